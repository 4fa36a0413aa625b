/** The Grad Health tab. TensorBoard imports this module and calls `render()` in a frame of its own. */

import { Session } from "./store/session";
import cardsCss from "./theme/cards.css?inline";
import layoutCss from "./theme/layout.css?inline";
import plotsCss from "./theme/plots.css?inline";
import tokensCss from "./theme/tokens.css?inline";
import { mount } from "./views/mount";

export function render(): void {
  document.documentElement.lang = "en";
  document.title = "Grad Health";
  const style = document.createElement("style");
  style.textContent = [tokensCss, layoutCss, plotsCss, cardsCss].join("\n");
  document.head.append(style);
  const session = new Session();
  session.start();
  mount(session, document.body);
}

/** The Grad Health tab. TensorBoard imports this module and calls `render()` in a frame of its own. */

import { Session } from "./store/session";
import { SHEETS } from "./theme/sheets";
import { mount } from "./views/mount";

export function render(): void {
  document.documentElement.lang = "en";
  document.title = "Grad Health";
  const style = document.createElement("style");
  style.textContent = SHEETS;
  document.head.append(style);
  const session = new Session();
  session.start();
  mount(session, document.body);
}

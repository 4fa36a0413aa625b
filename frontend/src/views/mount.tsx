import { render } from "preact";
import type { Session } from "../store/session";
import { Page } from "./app";
import { makeApp } from "./context";

/** Puts the page into an element. */
export function mount(session: Session, into: HTMLElement): void {
  const host = document.createElement("div");
  into.append(host);
  render(<Page app={makeApp(session)} />, host);
}

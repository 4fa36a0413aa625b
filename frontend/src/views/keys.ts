/** The keyboard: every key of the page, with what it does. The help is made from the same list. */

import { useEffect, useRef } from "preact/hooks";
import type { Row } from "../lib/rows";
import { type App, useApp } from "./context";
import { FILTER_ID } from "./filter_bar";
import { PICKER_ID } from "./run_picker";

interface Key {
  readonly keys: readonly string[];
  readonly shown: string;
  readonly does: string;
  readonly act: (app: App, rows: readonly Row[], event: KeyboardEvent) => void;
}

const PAGE_OF_ROWS = 10;

export const KEYS: readonly Key[] = [
  {
    keys: ["ArrowLeft", "ArrowRight"],
    shown: "← →",
    does: "step back and forth; with Shift in strides",
    act: ({ actions }, _rows, event) => actions.moveStep(event.key === "ArrowRight" ? 1 : -1, event.shiftKey),
  },
  {
    keys: ["ArrowUp", "ArrowDown"],
    shown: "↑ ↓",
    does: "row up and down",
    act: ({ actions }, rows, event) => actions.moveRow(rows, event.key === "ArrowDown" ? 1 : -1),
  },
  {
    keys: ["PageUp", "PageDown"],
    shown: "Page ↑ ↓",
    does: "ten rows up and down",
    act: ({ actions }, rows, event) =>
      actions.moveRow(rows, event.key === "PageDown" ? PAGE_OF_ROWS : -PAGE_OF_ROWS),
  },
  {
    keys: ["Home", "End"],
    shown: "Home End",
    does: "first and last step",
    act: ({ actions }, _rows, event) => {
      const extent = actions.extent();
      if (extent !== null) actions.goTo(event.key === "Home" ? extent.first : extent.last);
    },
  },
  { keys: ["+", "="], shown: "+", does: "zoom in at the cursor", act: ({ actions }) => actions.zoom(1) },
  { keys: ["-", "_"], shown: "−", does: "zoom out", act: ({ actions }) => actions.zoom(-1) },
  { keys: ["["], shown: "[ ]", does: "pan left and right", act: ({ actions }) => actions.pan(-0.3) },
  { keys: ["]"], shown: "", does: "", act: ({ actions }) => actions.pan(0.3) },
  { keys: ["0"], shown: "0", does: "all steps", act: ({ actions }) => actions.showAll() },
  {
    keys: ["n"],
    shown: "n p",
    does: "next and previous incident",
    act: ({ actions }) => actions.nextIncident(1),
  },
  { keys: ["p"], shown: "", does: "", act: ({ actions }) => actions.nextIncident(-1) },
  {
    keys: ["Enter"],
    shown: "Enter",
    does: "unfold a layer; pin the step and show a variable's details",
    act: ({ session, actions }, rows) => {
      const row = rows.find((candidate) => candidate.key === session.cursor.get().row);
      if (row !== undefined) actions.activate(row);
    },
  },
  {
    keys: ["l", " "],
    shown: "l",
    does: "draw the variable as a curve, or take it out",
    act: ({ session, actions }, rows) => {
      const row = rows.find((candidate) => candidate.key === session.cursor.get().row);
      if (row?.kind === "variable") actions.pick(row.key);
    },
  },
  {
    keys: ["/"],
    shown: "/",
    does: "filter variables: words, state:nan, layer:encoder",
    act: () => document.getElementById(FILTER_ID)?.focus(),
  },
  {
    keys: ["r"],
    shown: "r",
    does: "the list of runs",
    act: () => {
      const button = document.getElementById(PICKER_ID);
      button?.focus();
      button?.click();
    },
  },
  {
    keys: ["t"],
    shown: "t",
    does: "everything drawn as a table",
    act: ({ session }) => session.show({ table: !session.view.table }),
  },
  {
    keys: ["Escape"],
    shown: "Esc",
    does: "close details, box or help",
    act: ({ session }) => {
      if (session.store.get().help) session.store.set({ help: false });
      else if (session.view.details !== null) session.show({ details: null, pinned: null });
      else if (session.view.box !== null) session.show({ box: null, boxRows: null });
      else session.cursor.set({ step: null, row: null, run: null });
    },
  },
  {
    keys: ["?"],
    shown: "?",
    does: "this help",
    act: ({ session }) => session.store.set({ help: !session.store.get().help }),
  },
];

/** Keys that a focused control needs for itself. */
const OF_CONTROLS = new Set(["Enter", " "]);

export function useKeys(rows: readonly Row[]): void {
  const app = useApp();
  const latest = useRef(rows);
  latest.current = rows;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.matches("input, select, textarea") || target.closest("dialog") !== null) return;
      if (OF_CONTROLS.has(event.key) && target.closest("button, a, summary") !== null) return;
      const key = KEYS.find((candidate) => candidate.keys.includes(event.key));
      if (key === undefined) return;
      event.preventDefault();
      // From here on the keys point, not the mouse.
      app.session.cursor.set({ run: null });
      key.act(app, latest.current, event);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [app]);
}

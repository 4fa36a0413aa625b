/** Everything the page knows that is not an answer of the server. */

import type { Verdict } from "../api/types";
import { DEFAULT_VIEW, type ViewState } from "../lib/view_state";
import { Store } from "./store";

/** The verdict on a run, and what it says. */
export interface Judged {
  readonly verdict: Verdict | null;
  readonly sentence: string | null;
}

/** Rows in sight, whole pages: from inclusive, to exclusive. */
export interface RowWindow {
  readonly from: number;
  readonly to: number;
}

export interface AppState {
  readonly view: ViewState;
  readonly dark: boolean;
  /** Whether anybody sees the page. */
  readonly seen: boolean;
  /** The run that the page began with, where the user has chosen none: it stays, whatever else becomes worse. */
  readonly began: string | null;
  /** Verdicts on runs that are not on show, as far as they were asked for. */
  readonly verdicts: ReadonlyMap<string, Judged>;
  /** Since when (milliseconds) the server does not answer; null while it does. */
  readonly lostSince: number | null;
  /** When (milliseconds) the server answered last. */
  readonly answeredAt: number | null;
  /** Counts refreshes that were asked for. */
  readonly refresh: number;
  /** Whether new steps are fetched without being asked. */
  readonly live: boolean;
  readonly help: boolean;
  /** Pixels of one plot; 0 until it is measured. */
  readonly plotWidth: number;
  /** Rows of the heatmap in sight. */
  readonly rowWindow: RowWindow;
  /** A sentence that fades: "Report copied". */
  readonly notice: string;
}

/** What the mouse or the keys point at. Kept apart: it changes with every movement. */
export interface Cursor {
  readonly step: number | null;
  /** Key of the row. */
  readonly row: string | null;
  /** The run whose plot the mouse is over. */
  readonly run: string | null;
}

export const INITIAL: AppState = {
  view: DEFAULT_VIEW,
  dark: false,
  seen: true,
  began: null,
  verdicts: new Map(),
  lostSince: null,
  answeredAt: null,
  refresh: 0,
  live: true,
  help: false,
  plotWidth: 0,
  rowWindow: { from: 0, to: 64 },
  notice: "",
};

export type AppStore = Store<AppState>;
export type CursorStore = Store<Cursor>;

export function createCursor(): CursorStore {
  return new Store<Cursor>({ step: null, row: null, run: null });
}

/** Of a large model, the variables that are on the page: the server sends those and no others. */

import type { RunAnswer } from "../api/types";
import { buildRows, parseVariableKey, type Row } from "../lib/rows";
import type { ViewState } from "../lib/view_state";
import { pairing, sourcesOf } from "./reading";
import { pickedVariables } from "./selectors";
import type { AppState, RowWindow } from "./state";

/** Models with no more variables than this are sent whole: scrolling them waits for nothing. */
export const SMALL = 256;
/** A row that folds more variables than this is drawn from a coarse matrix of all of them. */
const GIANT = 64;
/** Rows come in pages, and those before and after the ones in sight come with them. */
export const PAGE = 32;

const known = new WeakMap<RunAnswer, { view: ViewState; rows: readonly Row[] }>();

/** The rows of the heatmap for what the user has set up; the same for the keys, the grid, the table and the requests. */
export function rowsOf(answer: RunAnswer, view: ViewState): readonly Row[] {
  const { sort, text, states, toggled } = view;
  const before = known.get(answer);
  const same =
    before !== undefined &&
    before.view.sort === sort &&
    before.view.text === text &&
    before.view.states === states &&
    before.view.toggled === toggled;
  if (same) return before.rows;
  const rows = buildRows(answer.groups, { sort, text, states, toggled: new Set(toggled) });
  known.set(answer, { view, rows });
  return rows;
}

/** The pages that hold some rows, and one more on either side. */
export function rowWindow(from: number, to: number): RowWindow {
  const first = Math.max(0, Math.floor(from / PAGE) - 1);
  return { from: first * PAGE, to: (Math.ceil(to / PAGE) + 1) * PAGE };
}

export interface Drawn {
  /** Variables of each group; null: all of them. */
  readonly variables: ReadonlyMap<string, ReadonlySet<number>> | null;
  /** Whether a row in sight folds too many variables to send them one by one. */
  readonly giant: boolean;
}

/** What is drawn of a run beside or as the main one. */
export function drawnOf(state: AppState, main: RunAnswer, answer: RunAnswer): Drawn {
  const count = answer.groups.reduce((n, group) => n + group.variables.length, 0);
  if (count <= SMALL) return { variables: null, giant: false };
  const variables = new Map<string, Set<number>>();
  const add = (group: string, index: number) => {
    const found = variables.get(group);
    if (found === undefined) variables.set(group, new Set([index]));
    else found.add(index);
  };
  let giant = false;
  const { from, to } = state.rowWindow;
  for (const row of rowsOf(main, state.view).slice(from, to)) {
    if (row.members.length > GIANT) giant = true;
    else
      for (const { group, indices } of sourcesOf(row, main, answer)) for (const i of indices) add(group, i);
  }
  const pairs = main === answer ? null : pairing(main, answer);
  for (const key of pickedVariables(state.view, main)) {
    const place = parseVariableKey(pairs === null ? key : (pairs.get(key) ?? ""));
    if (place !== null) add(place.group, place.index);
  }
  return { variables, giant };
}

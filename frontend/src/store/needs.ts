/** Which answers the page needs for its state. */

import type { Client, Drawn } from "../api/client";
import { parseVariableKey } from "../lib/rows";
import { spans } from "../lib/spans";
import type { StepRange, Viewport } from "../lib/viewport";
import { linesWanted } from "./curves";
import { drawnOf } from "./drawn";
import {
  chosenRun,
  pickedVariables,
  runAnswer,
  runList,
  shownExtent,
  shownRuns,
  viewportOf,
} from "./selectors";
import type { Need, Slots } from "./slots";
import type { AppState } from "./state";

/** The server's own limits. */
const MOST_COLUMNS = 4096;
const MOST_LINES = 32;
/** Columns of the table view. */
const TABLE_COLUMNS = 12;
/** Columns of what stands for all variables of a large model. */
const OVERVIEW_COLUMNS = 256;
/** Zooming and panning ask only when they come to rest for this long. */
const PATIENCE = 60;

type Place = Pick<Drawn, "range" | "columns">;

export function needsOf(state: AppState, slots: Slots, client: Client): Need[] {
  const needs: Need[] = [{ id: "runs", key: String(state.refresh), load: (signal) => client.runs(signal) }];
  for (const run of shownRuns(state, slots)) {
    const key = runKey(run, state, slots);
    needs.push({ id: `run|${run}`, key, load: (signal) => client.run(run, signal) });
    needs.push(...runNeeds(run, state, slots, client));
  }
  needs.push(...detailNeeds(state, slots, client));
  return needs;
}

/** Changes when the list of runs says that the run has changed, and at each refresh while it cannot be had. */
function runKey(run: string, state: AppState, slots: Slots): string {
  const listed = runList(slots)?.find((summary) => summary.run === run);
  if (listed === undefined || slots.error(`run|${run}`) !== null) return `refresh ${state.refresh}`;
  return `${listed.wall_time} ${listed.last_step}`;
}

/** The matrices and lines of one run. */
function runNeeds(run: string, state: AppState, slots: Slots, client: Client): Need[] {
  const answer = runAnswer(slots, run);
  const extent = shownExtent(state, slots);
  if (answer === null || extent === null || answer.first_step === null || state.plotWidth === 0) return [];
  const { view } = state;
  const viewport = viewportOf(view, extent);
  const whole = { range: extent, columns: columnsFor(state.plotWidth) };
  const part = view.steps === null ? null : tileRange(viewport, extent, state.plotWidth);
  const main = runAnswer(slots, chosenRun(state, slots) ?? run) ?? answer;
  const wanted = linesWanted(main, answer, pickedVariables(view, main));
  const { variables: seen, giant } = drawnOf(state, main, answer);
  const judged = view.domain === "fit" || shownRuns(state, slots).length > 1;
  const needs: Need[] = [];
  for (const group of answer.groups) {
    const drawn = { run, group: group.name, metric: view.metric, replica: view.replica };
    const tile = (id: string, place: Place, some: string | null = null): Need => ({
      id: `${id}|${run}|${group.name}`,
      key: `${some ?? ""}|${keyOf({ ...drawn, ...place }, view.keep, answer.revision)}`,
      load: (signal) => client.tile({ ...drawn, ...place }, view.keep, some, signal),
      patience: PATIENCE,
    });
    const some = seen === null ? null : spans(seen.get(group.name) ?? []);
    if (some !== "") {
      needs.push(tile("whole", whole, some));
      if (part !== null) needs.push(tile("part", part, some));
    }
    if (some !== null && judged) needs.push(tile("overview", { ...whole, columns: OVERVIEW_COLUMNS }));
    if (giant) needs.push(tile("giant", { ...(part ?? whole), columns: OVERVIEW_COLUMNS }));
    if (view.table) needs.push(tile("table", { range: viewport.range, columns: TABLE_COLUMNS }));
    const variables = (wanted.get(group.name) ?? []).slice(0, MOST_LINES);
    if (variables.length > 0) {
      const place = { ...drawn, ...(part ?? whole) };
      needs.push({
        id: `lines|${run}|${group.name}`,
        key: `${variables.join(",")}|${keyOf(place, "worst", answer.revision)}`,
        load: (signal) => client.lines(place, variables, signal),
        patience: PATIENCE,
      });
    }
  }
  return needs;
}

function detailNeeds(state: AppState, slots: Slots, client: Client): Need[] {
  const { view } = state;
  const run = chosenRun(state, slots);
  const answer = run === null ? null : runAnswer(slots, run);
  if (run === null || answer === null) return [];
  const needs: Need[] = [];
  const place = view.details === null ? null : parseVariableKey(view.details);
  if (place !== null) {
    needs.push({
      id: "variable",
      key: `${run}|${view.details}|${answer.revision}`,
      load: (signal) => client.variable(run, place.group, place.index, signal),
    });
  }
  const { box } = view;
  if (box !== null) {
    for (const group of answer.groups) {
      needs.push({
        id: `rank|${group.name}`,
        key: `${run}|${group.name}|${box.first}-${box.last}|${answer.revision}`,
        load: (signal) => client.rank(run, group.name, box, signal),
      });
    }
  }
  return needs;
}

function keyOf(drawn: Drawn, keep: string, revision: string): string {
  const { run, group, range, columns, metric, replica } = drawn;
  return JSON.stringify([
    run,
    group,
    range.first,
    range.last,
    columns,
    metric,
    replica ?? null,
    keep,
    revision,
  ]);
}

function columnsFor(pixels: number): number {
  return Math.min(MOST_COLUMNS, Math.max(64, Math.ceil(pixels / 64) * 64));
}

/**
 * The steps to fetch for a view: somewhat more than is seen and on a coarse raster, so that small movements are drawn
 * from what is there.
 */
export function tileRange(
  view: Viewport,
  extent: StepRange,
  pixels: number,
): { range: StepRange; columns: number } {
  const width = 2 ** (Math.ceil(2 * Math.log2(view.width)) / 2);
  const raster = Math.max(1, width / 4);
  const first = Math.floor(Math.floor((view.start - extent.first) / raster) * raster) + extent.first;
  const last = Math.ceil(first + 1.25 * width);
  const range = { first: Math.max(first, extent.first), last: Math.min(last, extent.last) };
  const share = (range.last + 1 - range.first) / view.width;
  return { range, columns: columnsFor(pixels * Math.max(1, share)) };
}

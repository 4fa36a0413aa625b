/** What follows from the state and the answers that have arrived. */

import type { Group, Incident, RunAnswer, RunSummary, RunsAnswer, Variable } from "../api/types";
import { parseVariableKey, variableKey } from "../lib/rows";
import { healthRank, isCalm } from "../lib/states";
import type { ViewState } from "../lib/view_state";
import { type StepRange, Viewport } from "../lib/viewport";
import type { Slots } from "./slots";
import type { AppState, Judged } from "./state";

/** How many lines the page chooses by itself. */
const AUTOMATIC_LINES = 4;

const VERDICTS = ["unhealthy", "watch", "healthy"];

export function runList(slots: Slots): readonly RunSummary[] | null {
  return slots.value<RunsAnswer>("runs")?.runs ?? null;
}

/** The run on show: the user's choice, else the one that the page began with, as long as it is there. */
export function chosenRun(state: AppState, slots: Slots): string | null {
  const runs = runList(slots);
  if (state.view.run !== null) return state.view.run;
  if (runs?.some(({ run, has_data }) => has_data && run === state.began) === true) return state.began;
  return mostAlarming(runs ?? [])?.run ?? null;
}

/** Of the runs with our data the most alarming, and among equals the one that was written last. */
export function mostAlarming(runs: readonly RunSummary[]): RunSummary | null {
  const ours = runs.filter((run) => run.has_data);
  return [...ours].sort(byAlarm)[0] ?? null;
}

export function byAlarm(a: RunSummary, b: RunSummary): number {
  const rank = ({ verdict }: RunSummary) => (verdict === null ? VERDICTS.length : VERDICTS.indexOf(verdict));
  return rank(a) - rank(b) || (b.wall_time ?? 0) - (a.wall_time ?? 0);
}

/** The run on show and those beside it, without repeats. */
export function shownRuns(state: AppState, slots: Slots): readonly string[] {
  const main = chosenRun(state, slots);
  if (main === null) return [];
  const { beside } = state.view;
  return [main, ...beside.filter((run, i) => run !== main && beside.indexOf(run) === i)];
}

/** The verdict on a run, from whoever knows the newest. */
export function judged(state: AppState, slots: Slots, run: RunSummary): Judged {
  if (runAnswer(slots, run.run) !== null) return runAnswer(slots, run.run) as RunAnswer;
  return run.verdict !== null ? run : (state.verdicts.get(run.run) ?? run);
}

export function runAnswer(slots: Slots, run: string): RunAnswer | null {
  return slots.value<RunAnswer>(`run|${run}`);
}

/** All steps of the runs on show; null while there are none. */
export function extentOf(answers: readonly (RunAnswer | null)[]): StepRange | null {
  const ranges = answers.flatMap((answer) =>
    answer === null || answer.first_step === null || answer.last_step === null
      ? []
      : [{ first: answer.first_step, last: answer.last_step }],
  );
  if (ranges.length === 0) return null;
  return {
    first: Math.min(...ranges.map((range) => range.first)),
    last: Math.max(...ranges.map((range) => range.last)),
  };
}

export function shownExtent(state: AppState, slots: Slots): StepRange | null {
  return extentOf(shownRuns(state, slots).map((run) => runAnswer(slots, run)));
}

export function viewportOf(view: ViewState, extent: StepRange): Viewport {
  return view.steps === null ? Viewport.of(extent) : Viewport.of(view.steps).clamped(extent);
}

export function findVariable(answer: RunAnswer | null, key: string | null): Variable | null {
  const place = key === null ? null : parseVariableKey(key);
  if (answer === null || place === null) return null;
  return findGroup(answer, place.group)?.variables[place.index] ?? null;
}

function findGroup(answer: RunAnswer, name: string): Group | null {
  return answer.groups.find((group) => group.name === name) ?? null;
}

/** Keys of the variables in the line chart: the user's, else the most ill, else the first few that are trained. */
export function pickedVariables(view: ViewState, answer: RunAnswer): readonly string[] {
  if (view.picked !== null) return view.picked.filter((key) => findVariable(answer, key) !== null);
  const all = answer.groups.flatMap((group) =>
    group.variables.map((variable) => ({ group: group.name, variable })),
  );
  const ill = all
    .filter(({ variable }) => !isCalm(variable.state))
    .sort((a, b) => healthRank(a.variable.state) - healthRank(b.variable.state));
  const trained = all.filter(({ variable }) => variable.state === "ok");
  // Matrices say more than biases and scales.
  const matrices = trained.filter(({ variable }) => variable.shape.length > 1);
  const well = matrices.length > 0 ? matrices : trained;
  // One healthy variable beside the ill ones shows what the ill ones ought to look like.
  const chosen = [...ill.slice(0, AUTOMATIC_LINES - 1), ...well].slice(0, AUTOMATIC_LINES);
  return chosen.map(({ group, variable }) => variableKey(group, variable.index));
}

export function incidentsByStep(answer: RunAnswer): readonly Incident[] {
  return [...answer.incidents].sort((a, b) => a.first_step - b.first_step || a.id - b.id);
}

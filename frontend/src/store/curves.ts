/** From the server's lines to curves. */

import type { LinesAnswer, RunAnswer } from "../api/types";
import type { Band, Curve, Guide } from "../lib/curves";
import { quantity } from "../lib/format";
import { parseVariableKey } from "../lib/rows";
import { DETAILED, type Metric } from "../lib/scale";
import { State } from "../lib/states";
import type { Extra } from "../lib/view_state";
import { pairing } from "./reading";
import type { Slots } from "./slots";

/** Metrics whose windows hold a range of values. */
const RANGED: readonly Metric[] = ["norm_max", "norm_min", "norm_mean", "norm_last"];

/** The applied update should be about a thousandth of the weight: an old and useful rule of thumb. */
const UPDATE_GUIDE = 1e-3;

interface CurveChoice {
  readonly main: RunAnswer;
  readonly answer: RunAnswer;
  /** Keys of variables of the main run. */
  readonly picked: readonly string[];
  readonly colours: ReadonlyMap<string, string>;
  readonly metric: Metric;
}

function linesAnswer(slots: Slots, run: string, group: string): LinesAnswer | null {
  return slots.value<LinesAnswer>(`lines|${run}|${group}`);
}

export function variableCurves(slots: Slots, choice: CurveChoice): Curve[] {
  const pairs = choice.main === choice.answer ? null : pairing(choice.main, choice.answer);
  const curves: Curve[] = [];
  const sparse = DETAILED.includes(choice.metric);
  for (const key of choice.picked) {
    const place = parseVariableKey(pairs === null ? key : (pairs.get(key) ?? ""));
    const answer = place === null ? null : linesAnswer(slots, choice.answer.run, place.group);
    const line = answer?.lines.find((candidate) => candidate.index === place?.index);
    if (answer == null || line === undefined) continue;
    const points = sparse ? measuredPoints(answer, line) : pointsOf(answer);
    const middle =
      choice.metric === "norm_min" ? line.min : choice.metric === "norm_mean" ? line.mean : line.max;
    // A veil for each of many curves would be fog.
    const ranged = RANGED.includes(choice.metric) && choice.picked.length <= 3;
    curves.push({
      key: `${choice.answer.run}|${key}`,
      colour: choice.colours.get(key) ?? "#888888",
      x: points.x,
      y: spread(middle, points),
      ...(ranged ? { low: spread(line.min, points), high: spread(line.max, points) } : {}),
      states: spread(line.state, points),
    });
  }
  return curves;
}

/** The range in which nine of ten variables of the first group lie. */
export function bandOf(slots: Slots, run: RunAnswer, metric: Metric): Band | null {
  const answer = run.groups.length === 0 ? null : linesAnswer(slots, run.run, run.groups[0].name);
  if (answer === null) return null;
  const points = DETAILED.includes(metric)
    ? only(pointsOf(answer), (c) => answer.band.p5[c] !== null)
    : pointsOf(answer);
  return { x: points.x, low: spread(answer.band.p5, points), high: spread(answer.band.p95, points) };
}

export function extraCurves(slots: Slots, run: RunAnswer, extra: Extra, colour: string): Curve[] {
  return run.groups.flatMap((group, i) => {
    const answer = linesAnswer(slots, run.run, group.name);
    if (answer === null) return [];
    const values = answer[extra];
    if (values.every((value) => value === null)) return [];
    const dash = i === 0 ? {} : { dash: [6 - i, 3] };
    const points = pointsOf(answer);
    return [
      { key: `${run.run}|${group.name}|${extra}`, colour, x: points.x, y: spread(values, points), ...dash },
    ];
  });
}

export function variableGuides(run: RunAnswer, metric: Metric): Guide[] {
  if (metric === "update_ratio") return [{ value: UPDATE_GUIDE, words: "1e−3: a healthy update" }];
  if (metric === "change") return [{ value: 1, words: "its own median" }];
  const guides: Guide[] = [];
  for (const { clip_norm, clip_value } of run.groups) {
    if (RANGED.includes(metric) && clip_norm !== null)
      guides.push({ value: clip_norm, words: `clipnorm ${quantity(clip_norm)}` });
    if (metric === "largest" && clip_value !== null)
      guides.push({ value: clip_value, words: `clipvalue ${quantity(clip_value)}` });
  }
  return distinct(guides);
}

export function globalGuides(run: RunAnswer): Guide[] {
  return distinct(
    run.groups.flatMap(({ global_clip_norm: value }) =>
      value === null ? [] : [{ value, words: `global clipnorm ${quantity(value)}` }],
    ),
  );
}

/** Which variables of which group must be asked for, to draw the picked ones of the main run. */
export function linesWanted(
  main: RunAnswer,
  answer: RunAnswer,
  picked: readonly string[],
): Map<string, number[]> {
  const pairs = main === answer ? null : pairing(main, answer);
  const wanted = new Map<string, number[]>();
  for (const key of picked) {
    const place = parseVariableKey(pairs === null ? key : (pairs.get(key) ?? ""));
    if (place === null) continue;
    const indices = wanted.get(place.group);
    if (indices === undefined) wanted.set(place.group, [place.index]);
    else indices.push(place.index);
  }
  // The band, the loss and the learning rate come with the lines: ask for one even where none is picked.
  for (const group of answer.groups) {
    if (!wanted.has(group.name) && group.variables.length > 0) wanted.set(group.name, [0]);
  }
  return wanted;
}

/** Colours by place in the chart. */
export function colourOf(key: string, picked: readonly string[], palette: readonly string[]): string {
  return palette[Math.max(0, picked.indexOf(key)) % palette.length];
}

/** The columns of an answer as points of a curve. */
interface Points {
  readonly x: readonly number[];
  /** Index of the column of each point. */
  readonly column: readonly number[];
}

const known = new WeakMap<LinesAnswer, Points>();

/** A single step is a point in the middle of its cell; a window of several is a level from its first step to its last. */
function pointsOf(answer: LinesAnswer): Points {
  const found = known.get(answer);
  if (found !== undefined) return found;
  const x: number[] = [];
  const column: number[] = [];
  answer.first.forEach((first, c) => {
    x.push(first + 0.5);
    column.push(c);
    if (answer.last[c] === first) return;
    x.push(answer.last[c] + 0.5);
    column.push(c);
  });
  const points = { x, column };
  known.set(answer, points);
  return points;
}

/** Without the columns in which the line's metric was not measured: its curve goes from measurement to measurement. */
function measuredPoints(answer: LinesAnswer, line: LinesAnswer["lines"][number]): Points {
  return only(pointsOf(answer), (c) => line.max[c] !== null || line.state[c] !== State.finite);
}

/** The points of some columns. */
function only({ x, column }: Points, wanted: (column: number) => boolean): Points {
  const kept = column.map(wanted);
  return { x: x.filter((_, i) => kept[i]), column: column.filter((_, i) => kept[i]) };
}

function spread<T>(values: readonly T[], { column }: Points): readonly T[] {
  return column.map((c) => values[c]);
}

function distinct(guides: Guide[]): Guide[] {
  return guides.filter((guide, i) => guides.findIndex((other) => other.words === guide.words) === i);
}

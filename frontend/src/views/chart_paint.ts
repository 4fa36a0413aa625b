/** Painting curves on a canvas: band, veils, lines with gaps, guides, and marks where there is no finite value. */

import {
  type Band,
  type Curve,
  drawable,
  fitY,
  fromTop,
  type Guide,
  nearest,
  type Values,
  visible,
  type YScale,
} from "../lib/curves";
import { tick as tickWords } from "../lib/format";
import { axisTicks } from "../lib/scale";
import { State } from "../lib/states";
import type { Viewport } from "../lib/viewport";
import type { Palette } from "../theme/palette";
import { stepAxisTicks } from "./step_axis";

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
/** Room at the foot for the marks of bad states. */
const FOOT = 10;
const HEAD = 6;
/** Height of a label. */
const LABEL = 13;
/** With fewer values than this in view, each gets a dot: one between two gaps would draw no line at all. */
const DOTTED = 60;

export interface Chart {
  readonly curves: readonly Curve[];
  /** The whole run's p5–p95. */
  readonly band: Band | null;
  readonly guides: readonly Guide[];
  /** Curves of the charts beside: all have the same y axis. */
  readonly others?: readonly Curve[];
  readonly log: boolean;
  readonly view: Viewport;
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
}

interface Place {
  readonly x: (position: number) => number;
  readonly y: (value: number) => number;
}

/** Draws everything; the context is scaled to pixels of the page. `step`: where the values get their dots. */
export function paintChart(context: CanvasRenderingContext2D, chart: Chart, step: number | null): void {
  const { curves, band, view, width, height, log, palette } = chart;
  const parts = [...curves, ...(chart.others ?? [])].map(({ x, y, low, high }) => ({
    x,
    ys: [y, low, high].filter((v) => v !== undefined),
  }));
  if (band !== null) parts.push({ x: band.x, ys: [band.low, band.high] });
  const scale = fitY(parts, chart.guides, log, view.start, view.end);
  const inner = height - HEAD - FOOT;
  const place: Place = {
    x: (position) => view.x(position, width),
    y: (value) => HEAD + Math.min(4, Math.max(-4, fromTop(value, scale))) * inner,
  };
  context.clearRect(0, 0, width, height);
  if (!parts.some(({ x, ys }) => hasValue(chart, x, ys))) {
    for (const curve of curves) paintStates(context, chart, place, curve);
    paintNothing(context, chart);
    return;
  }
  paintGrid(context, chart, scale, place);
  if (band !== null) paintVeil(context, chart, place, band.x, band.low, band.high, palette.band);
  for (const { x, low, high, colour } of curves) {
    if (low !== undefined && high !== undefined)
      paintVeil(context, chart, place, x, low, high, `${colour}2b`);
  }
  for (const curve of curves) paintCurve(context, chart, place, curve);
  for (const curve of curves) paintStates(context, chart, place, curve);
  paintGuides(context, chart, scale, place);
  paintLabels(context, chart, scale, place);
  if (step !== null) for (const curve of curves) paintDot(context, chart, place, curve, step);
}

/** Whether there is anything to draw in the steps in view. */
function hasValue({ view, log }: Chart, x: readonly number[], ys: readonly Values[]): boolean {
  const [from, to] = visible(x, view.start, view.end);
  for (let i = from; i < to; i++) if (ys.some((y) => drawable(y[i], log))) return true;
  return false;
}

/** An empty plot with made-up marks on its axis would look like a fault. */
function paintNothing(context: CanvasRenderingContext2D, { width, height, palette, curves }: Chart): void {
  if (curves.length === 0) return;
  text(context, "no finite value in these steps", width / 2, height / 2, palette.muted, palette, "center");
}

function paintGrid(context: CanvasRenderingContext2D, chart: Chart, scale: YScale, place: Place): void {
  const { view, width, height, palette } = chart;
  context.strokeStyle = palette.grid;
  context.lineWidth = 1;
  context.beginPath();
  for (const tick of axisTicks(scale.low, scale.high, scale.log)) {
    const y = Math.round(place.y(tick)) + 0.5;
    context.moveTo(0, y);
    context.lineTo(width, y);
  }
  for (const tick of stepAxisTicks(view, width)) {
    const x = Math.round(place.x(tick + 0.5)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height - FOOT);
  }
  context.stroke();
}

/** Runs of indices without a gap. */
function* stretches(
  chart: Chart,
  x: readonly number[],
  ...ys: Values[]
): Generator<readonly [number, number]> {
  const [from, to] = visible(x, chart.view.start, chart.view.end);
  let begin = -1;
  for (let i = from; i <= to; i++) {
    const whole = i < to && ys.every((y) => drawable(y[i], chart.log));
    if (whole && begin < 0) begin = i;
    if (!whole && begin >= 0) {
      yield [begin, i];
      begin = -1;
    }
  }
}

function paintVeil(
  context: CanvasRenderingContext2D,
  chart: Chart,
  place: Place,
  x: readonly number[],
  low: Values,
  high: Values,
  fill: string,
): void {
  context.fillStyle = fill;
  for (const [from, to] of stretches(chart, x, low, high)) {
    context.beginPath();
    for (let i = from; i < to; i++) context.lineTo(place.x(x[i]), place.y(high[i] ?? 0));
    for (let i = to - 1; i >= from; i--) context.lineTo(place.x(x[i]), place.y(low[i] ?? 0));
    context.fill();
  }
}

function paintCurve(
  context: CanvasRenderingContext2D,
  chart: Chart,
  place: Place,
  { x, y, colour, dash }: Curve,
): void {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = 1.6;
  context.lineJoin = "round";
  context.setLineDash(dash === undefined ? [] : [...dash]);
  const [first, last] = visible(x, chart.view.start, chart.view.end);
  for (const [from, to] of stretches(chart, x, y)) {
    context.beginPath();
    for (let i = from; i < to; i++) context.lineTo(place.x(x[i]), place.y(y[i] ?? 0));
    context.stroke();
    if (to - from > 1 && last - first > DOTTED) continue;
    for (let i = from; i < to; i++) circle(context, place.x(x[i]), place.y(y[i] ?? 0), 2);
  }
  context.setLineDash([]);
}

function circle(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** At the foot of the plot: where a curve has no finite value, and what was there instead. */
function paintStates(context: CanvasRenderingContext2D, chart: Chart, place: Place, curve: Curve): void {
  const { palette, view, height } = chart;
  const { x, states } = curve;
  if (states === undefined) return;
  const colours = new Map<number, string>([
    [State.zero, palette.zeroEdge],
    [State.none, palette.none],
    [State.inf, palette.inf],
    [State.nan, palette.nan],
  ]);
  const [from, to] = visible(x, view.start, view.end);
  for (const [state, colour] of colours) {
    context.fillStyle = colour;
    for (let i = from; i < to; i++) {
      if (states[i] !== state) continue;
      const left = place.x(x[i] - 0.5);
      while (i + 1 < to && states[i + 1] === state) i++;
      const end = place.x(i + 1 < x.length ? x[i + 1] - 0.5 : x[i] + 0.5);
      context.fillRect(left, height - FOOT + 3, Math.max(3, end - left), FOOT - 3);
    }
  }
}

function paintGuides(context: CanvasRenderingContext2D, chart: Chart, scale: YScale, place: Place): void {
  const { guides, width, palette } = chart;
  for (const { value, words } of guides) {
    if (!drawable(value, scale.log) || value < scale.low || value > scale.high) continue;
    const y = Math.round(place.y(value)) + 0.5;
    context.strokeStyle = palette.guide;
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
    text(context, words, width - 6, y - 2, palette.guide, palette, "right");
  }
}

function paintLabels(context: CanvasRenderingContext2D, chart: Chart, scale: YScale, place: Place): void {
  for (const mark of axisTicks(scale.low, scale.high, scale.log)) {
    const y = place.y(mark);
    if (y >= 15) text(context, tickWords(mark), 4, y - 1, chart.palette.muted, chart.palette, "left");
  }
}

function paintDot(
  context: CanvasRenderingContext2D,
  chart: Chart,
  place: Place,
  curve: Curve,
  step: number,
): void {
  const i = nearest(curve.x, step + 0.5);
  const value = curve.y[i];
  if (i < 0 || !drawable(value, chart.log)) return;
  const x = place.x(curve.x[i]);
  const y = place.y(value);
  context.fillStyle = chart.palette.surface;
  circle(context, x, y, 4.5);
  context.fillStyle = curve.colour;
  circle(context, x, y, 3);
}

function text(
  context: CanvasRenderingContext2D,
  words: string,
  x: number,
  y: number,
  colour: string,
  palette: Palette,
  align: CanvasTextAlign,
): void {
  context.font = `11px ${FONT}`;
  context.textAlign = align;
  context.textBaseline = "bottom";
  const width = context.measureText(words).width;
  context.globalAlpha = 0.85;
  context.fillStyle = palette.surface;
  const left = align === "right" ? x - width : align === "center" ? x - width / 2 : x;
  context.fillRect(left - 2, y - LABEL, width + 4, LABEL);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(words, x, y);
}

/** Curves as the line chart takes them. */

export type Values = readonly (number | null)[];

/** One curve, on an x axis of its own: different groups and runs have different steps. */
export interface Curve {
  readonly key: string;
  readonly colour: string;
  readonly dash?: readonly number[];
  /** Positions on the step axis, rising. */
  readonly x: readonly number[];
  readonly y: Values;
  /** What the curve summarises, drawn as a veil. */
  readonly low?: Values;
  readonly high?: Values;
  /** `State` at each position. */
  readonly states?: readonly number[];
}

export interface Band {
  readonly x: readonly number[];
  readonly low: Values;
  readonly high: Values;
}

/** A horizontal line with words. */
export interface Guide {
  readonly value: number;
  readonly words: string;
}

/** The y axis of a chart. */
export interface YScale {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

/** A guide further than this from the curves would flatten them: it is left out of the range. */
const GUIDE_DECADES = 3;

/** The range that holds everything drawn between two positions: whole decades on a logarithmic axis. */
export function fitY(
  parts: readonly { readonly x: readonly number[]; readonly ys: readonly Values[] }[],
  guides: readonly Guide[],
  log: boolean,
  start: number,
  end: number,
): YScale {
  let low = Infinity;
  let high = -Infinity;
  for (const { x, ys } of parts) {
    const [from, to] = visible(x, start, end);
    for (const y of ys) {
      for (let i = from; i < to; i++) {
        const value = y[i];
        if (!drawable(value, log)) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
  }
  if (low > high) return log ? { low: 1e-3, high: 1, log } : { low: 0, high: 1, log };
  for (const { value } of guides) {
    const near = !log || (value < high * 10 ** GUIDE_DECADES && value > low / 10 ** GUIDE_DECADES);
    if (!drawable(value, log) || !near) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!log) {
    const room = (high - low || Math.abs(high) || 1) * 0.08;
    return { low: low - room, high: high + room, log };
  }
  const bottom = Math.floor(Math.log10(low) - 0.05);
  return { low: 10 ** bottom, high: 10 ** Math.max(bottom + 1, Math.ceil(Math.log10(high) + 0.05)), log };
}

/** Share of the height from the top: 0 at the high end of the axis. */
export function fromTop(value: number, { low, high, log }: YScale): number {
  if (!log) return (high - value) / (high - low);
  return (Math.log10(high) - Math.log10(value)) / (Math.log10(high) - Math.log10(low));
}

/** Whether a value has a place on the axis. */
export function drawable(value: number | null | undefined, log: boolean): value is number {
  return value != null && Number.isFinite(value) && (!log || value > 0);
}

/** Indices of the positions between start and end, with one more on each side so that lines leave the view. */
export function visible(
  x: readonly number[],
  start: number,
  end: number,
): readonly [from: number, to: number] {
  return [Math.max(0, lowerBound(x, start) - 1), Math.min(x.length, lowerBound(x, end) + 1)];
}

/** Index of the position nearest to a point, or −1 where there is none. */
export function nearest(x: readonly number[], point: number): number {
  if (x.length === 0) return -1;
  const i = lowerBound(x, point);
  if (i === 0) return 0;
  return i === x.length || point - x[i - 1] < x[i] - point ? i - 1 : i;
}

function lowerBound(x: readonly number[], value: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

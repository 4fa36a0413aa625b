/** From values to positions on a colour ramp or an axis. */

/** The values that the ends of the colour ramp stand for; values outside take the end's colour. */
export interface Domain {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

export type Metric =
  | "norm_max"
  | "norm_min"
  | "norm_mean"
  | "norm_last"
  | "largest"
  | "zero_share"
  | "update_ratio"
  | "weight_norm"
  | "change";

export const METRICS: readonly Metric[] = [
  "norm_max",
  "norm_min",
  "norm_mean",
  "norm_last",
  "largest",
  "zero_share",
  "update_ratio",
  "weight_norm",
  "change",
];

/** Metrics that only some steps are measured for; between them the last measurement stands. */
export const DETAILED: readonly Metric[] = ["largest", "zero_share", "update_ratio", "weight_norm"];

export const METRIC_WORDS: Readonly<Record<Metric, string>> = {
  norm_max: "Gradient norm, largest",
  norm_min: "Gradient norm, smallest",
  norm_mean: "Gradient norm, mean",
  norm_last: "Gradient norm, last",
  largest: "Largest |g|",
  zero_share: "Share of zeros",
  update_ratio: "Update : weight",
  weight_norm: "Weight norm",
  change: "Change against own median",
};

const NORM: Domain = { low: 1e-6, high: 1e3, log: true };

/** The same for every run and zoom, so that a colour keeps its meaning. */
export const FIXED_DOMAIN: Readonly<Record<Metric, Domain>> = {
  norm_max: NORM,
  norm_min: NORM,
  norm_mean: NORM,
  norm_last: NORM,
  largest: { low: 1e-8, high: 1, log: true },
  zero_share: { low: 0, high: 1, log: false },
  update_ratio: { low: 1e-7, high: 1e-1, log: true },
  weight_norm: { low: 1e-2, high: 1e3, log: true },
  change: { low: 1e-3, high: 1e3, log: true },
};

/** 0…1 inside the domain; NaN for a value that has no place on it. */
export function position(value: number, domain: Domain): number {
  if (Number.isNaN(value)) return Number.NaN;
  if (!domain.log) return clamp((value - domain.low) / (domain.high - domain.low));
  if (value <= 0) return 0;
  const low = Math.log10(domain.low);
  return clamp((Math.log10(value) - low) / (Math.log10(domain.high) - low));
}

/** The decades around the middle 98 % of the values; the fixed domain where there are none. */
export function fittedDomain(values: Float32Array, fixed: Domain): Domain {
  if (!fixed.log) return fixed;
  const found: number[] = [];
  const stride = Math.max(1, Math.floor(values.length / 20_000));
  for (let i = 0; i < values.length; i += stride) {
    if (values[i] > 0 && Number.isFinite(values[i])) found.push(Math.log10(values[i]));
  }
  if (found.length === 0) return fixed;
  found.sort((a, b) => a - b);
  const low = Math.floor(found[Math.floor(found.length * 0.01)]);
  const high = Math.ceil(found[Math.ceil(found.length * 0.99) - 1]);
  return { low: 10 ** low, high: 10 ** Math.max(high, low + 1), log: true };
}

/** Round steps for axis marks, at most about `most` of them. */
export function stepTicks(start: number, end: number, most: number): number[] {
  const rough = (end - start) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const unit = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((m) => m >= rough) ?? 10 * power);
  const ticks: number[] = [];
  for (let t = Math.ceil(start / unit) * unit; t < end; t += unit) ticks.push(t);
  return ticks;
}

/** Powers of ten inside the domain, thinned to at most `most`. */
export function decadeTicks(domain: Domain, most: number): number[] {
  const low = Math.ceil(Math.log10(domain.low) - 1e-9);
  const high = Math.floor(Math.log10(domain.high) + 1e-9);
  const stride = Math.max(1, Math.ceil((high - low + 1) / most));
  const ticks: number[] = [];
  for (let e = low; e <= high; e += stride) ticks.push(10 ** e);
  return ticks;
}

function clamp(t: number): number {
  return Math.min(1, Math.max(0, t));
}

/** Marks of a y axis: decades on a logarithmic one, round numbers on a linear one; about five. */
export function axisTicks(low: number, high: number, log: boolean): number[] {
  if (log) return decadeTicks({ low, high, log }, 6);
  const rough = (high - low) / 5;
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const unit = [1, 2, 5, 10].map((m) => m * power).find((m) => m >= rough) ?? 10 * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(low / unit); i * unit <= high; i++) ticks.push(Number((i * unit).toPrecision(12)));
  return ticks;
}

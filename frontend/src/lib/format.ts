/** Numbers, steps, times and names as people read them. */

const GROUPED = new Intl.NumberFormat("en-US");

/** A whole number with thousands separated: 48312 → "48,312". */
export function count(value: number): string {
  return GROUPED.format(Math.round(value));
}

/** "weight norm" → "Weight norm". */
export function sentenceCase(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** "1 variable", "3 variables". */
export function plural(n: number, noun: string): string {
  return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** A measured quantity with three significant digits; "–" where there is none. */
export function quantity(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return minus(value.toExponential(2).replace("e+", "e"));
  return minus(Number(value.toPrecision(3)).toString());
}

/** A mark of an axis: powers of ten far from one are written as such. */
export function tick(value: number): string {
  const exponent = Math.log10(Math.abs(value));
  const far = Number.isInteger(exponent) && Math.abs(exponent) > 3;
  return far ? minus(`1e${exponent}`) : quantity(value);
}

/** A share between 0 and 1 as per cent: never "0 %" for something, never "100 %" for less than all. */
export function share(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0 || value === 1) return `${value * 100} %`;
  if (value < 0.001) return "< 0.1 %";
  if (value > 0.999) return "> 99.9 %";
  return `${Number((value * 100).toPrecision(3))} %`;
}

/** Steps of a range: "step 5", "steps 5–9". */
export function steps(first: number, last: number): string {
  return first === last ? `step ${count(first)}` : `steps ${count(first)}–${count(last)}`;
}

/** Without the word: "5", "5–9". */
export function stepRange(first: number, last: number): string {
  return first === last ? count(first) : `${count(first)}–${count(last)}`;
}

/** A short tick label: 1500 → "1.5k", 2000000 → "2M". */
export function shortCount(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(6))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(6))}k`;
  return count(value);
}

/** How long ago, in one unit: "12 s ago", "3 h ago". Both in seconds since the epoch. */
export function ago(then: number, now: number): string {
  const seconds = Math.max(0, now - then);
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  return `${count(seconds / 86400)} days ago`;
}

/** Runs keep our records in a folder of their own; its name says nothing to people. */
export function runLabel(run: string): string {
  if (run === "gradhealth" || run === ".") return "(log directory)";
  return run.endsWith("/gradhealth") ? run.slice(0, -"/gradhealth".length) : run;
}

/** A shape as Python writes it: "(64, 96)", "()" for a scalar. */
export function shape(dimensions: readonly number[]): string {
  return dimensions.length === 1 ? `(${dimensions[0]},)` : `(${dimensions.join(", ")})`;
}

/** A name that was cut: what is seen of its beginning, what is not, and the end, which is seen as far as it fits. */
export interface Cut {
  readonly head: string;
  readonly hidden: string;
  readonly tail: string;
}

/** Letters of the beginning that are kept: an encoder and a decoder are told apart by them. */
const LEAD = 2;
/** Room for at least so many more is needed to spend it on the beginning. */
const WORTH_A_LEAD = 10;

/**
 * Cuts the middle out of a name that does not fit: its end tells most, and begins with a slash where one is near.
 *
 * @param room what there is, in the measure's unit.
 * @param measure of a text; "…" stands for what is hidden.
 */
export function cutName(name: string, room: number, measure: (text: string) => number): Cut {
  if (measure(name) <= room) return { head: "", hidden: "", tail: name };
  const lead = name.slice(0, LEAD);
  const head = measure(`${lead}${"n".repeat(WORTH_A_LEAD)}`) <= room ? lead : "";
  const left = room - measure(`${head}…`);
  let [low, high] = [head.length + 1, Math.max(head.length + 1, name.length - 1)];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (measure(name.slice(middle)) <= left) high = middle;
    else low = middle + 1;
  }
  const slash = name.indexOf("/", low);
  const start = slash >= 0 && slash - low <= (name.length - low) / 4 ? slash : low;
  return { head, hidden: name.slice(head.length, start), tail: name.slice(start) };
}

/** The last part of a path of either kind of machine. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

function minus(text: string): string {
  return text.replace(/^-/, "−").replace("e-", "e−");
}

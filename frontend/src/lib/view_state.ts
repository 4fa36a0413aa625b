/** What the user has set up, as the parameters of a deep link and back. Defaults are left out of the link. */

import type { Keep } from "./binning";
import type { Sort } from "./rows";
import { METRICS, type Metric } from "./scale";
import type { StepRange } from "./viewport";

export type Extra = "loss" | "learning_rate" | "global_norm";

export interface ViewState {
  /** null: the page chooses. */
  readonly run: string | null;
  readonly beside: readonly string[];
  /** null: the whole run, growing with it. */
  readonly steps: StepRange | null;
  readonly metric: Metric;
  readonly keep: Keep;
  readonly domain: "fixed" | "fit";
  /** null: all replicas folded into one. */
  readonly replica: number | null;
  readonly sort: Sort;
  readonly text: string;
  readonly states: readonly string[];
  readonly toggled: readonly string[];
  /** Variables in the line chart; null: the page chooses. */
  readonly picked: readonly string[] | null;
  readonly scale: "log" | "linear";
  readonly extras: readonly Extra[];
  /** The runs beside are drawn as what they are relative to the main one. */
  readonly against: boolean;
  /** The variable whose details are shown. */
  readonly details: string | null;
  readonly pinned: number | null;
  /** Steps of the box that is ranked. */
  readonly box: StepRange | null;
  /** Keys of the first and the last row of the box; null: all rows. */
  readonly boxRows: readonly string[] | null;
  readonly table: boolean;
}

export const DEFAULT_VIEW: ViewState = {
  run: null,
  beside: [],
  steps: null,
  metric: "norm_max",
  keep: "worst",
  domain: "fixed",
  replica: null,
  sort: "worst",
  text: "",
  states: [],
  toggled: [],
  picked: null,
  scale: "log",
  extras: [],
  against: false,
  details: null,
  pinned: null,
  box: null,
  boxRows: null,
  table: false,
};

type Parameters = Readonly<Record<string, string>>;

/** No more runs than this lie side by side. */
export const MOST_BESIDE = 3;

const EXTRAS: readonly Extra[] = ["loss", "learning_rate", "global_norm"];

export function toParameters(view: ViewState): Record<string, string> {
  const found: Record<string, string> = {};
  for (const key of Object.keys(DEFAULT_VIEW) as (keyof ViewState)[]) {
    const text = encode(view[key]);
    if (text !== encode(DEFAULT_VIEW[key])) found[key] = text;
  }
  return found;
}

/** Anything that cannot be understood is left at its default: links outlive versions. */
export function fromParameters(parameters: Parameters): ViewState {
  const one = <T extends string>(key: string, allowed: readonly T[], otherwise: T): T =>
    allowed.includes(parameters[key] as T) ? (parameters[key] as T) : otherwise;
  const texts = (key: string): readonly string[] => list(parameters[key]) ?? [];
  return {
    run: parameters.run ?? null,
    beside: texts("beside").slice(0, MOST_BESIDE),
    steps: range(parameters.steps),
    metric: one("metric", METRICS, "norm_max"),
    keep: one("keep", ["worst", "smallest"], "worst"),
    domain: one("domain", ["fixed", "fit"], "fixed"),
    replica: whole(parameters.replica),
    sort: one("sort", ["worst", "model", "name"], "worst"),
    text: parameters.text ?? "",
    states: texts("states"),
    toggled: texts("toggled"),
    picked: list(parameters.picked),
    scale: one("scale", ["log", "linear"], "log"),
    extras: EXTRAS.filter((extra) => texts("extras").includes(extra)),
    against: parameters.against === "1",
    details: parameters.details ?? null,
    pinned: whole(parameters.pinned),
    box: range(parameters.box),
    boxRows: list(parameters.boxRows),
    table: parameters.table === "1",
  };
}

function encode(value: ViewState[keyof ViewState]): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? "1" : "";
  if (Array.isArray(value)) return value.length === 0 ? "[]" : JSON.stringify(value);
  if (typeof value === "object") return `${(value as StepRange).first}-${(value as StepRange).last}`;
  return String(value);
}

function list(text: string | undefined): readonly string[] | null {
  if (text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((item) => typeof item === "string").slice(0, 1000) : null;
  } catch {
    return null;
  }
}

function range(text: string | undefined): StepRange | null {
  const found = /^(-?\d{1,15})-(-?\d{1,15})$/.exec(text ?? "");
  if (found === null) return null;
  const [first, last] = [Number(found[1]), Number(found[2])];
  return first <= last ? { first, last } : null;
}

function whole(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The server's answers, as `serve/http_api.md` describes them. */

export type Verdict = "healthy" | "watch" | "unhealthy";

export interface RunSummary {
  readonly run: string;
  readonly has_data: boolean;
  readonly verdict: Verdict | null;
  /** What the verdict says; null where there is none yet. */
  readonly sentence: string | null;
  readonly first_step: number | null;
  readonly last_step: number | null;
  /** Seconds since the epoch. */
  readonly wall_time: number | null;
  readonly newer_format: number | null;
}

export interface RunsAnswer {
  readonly version: string;
  readonly runs: readonly RunSummary[];
}

export interface Variable {
  readonly index: number;
  readonly name: string;
  readonly layer: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly size: number;
  readonly role: "trained" | "frozen" | "not_handed_over" | "untracked";
  readonly expected_none: boolean;
  /** One of `Health`, or a word of a newer server. */
  readonly state: string;
  readonly since: number | null;
  readonly norm: number | null;
  readonly rule: string;
  readonly evidence: Readonly<Record<string, number | null>>;
}

export interface Group {
  readonly name: string;
  readonly optimizer: string;
  readonly hooked: string;
  readonly replicas: number;
  readonly every: string;
  readonly clip_norm: number | null;
  readonly global_clip_norm: number | null;
  readonly clip_value: number | null;
  readonly norm_of: string;
  readonly software: Readonly<Record<string, string>>;
  readonly variables: readonly Variable[];
}

export interface Incident {
  readonly id: number;
  readonly kind: string;
  readonly severity: "bad" | "watch" | "info";
  readonly group: string;
  readonly first_step: number;
  readonly last_step: number;
  readonly steps: number;
  readonly variables: readonly number[];
  readonly sentence: string;
  readonly evidence: Readonly<Record<string, number | null>>;
  readonly cause: string | null;
  readonly open: boolean;
}

export interface Cause {
  readonly id: string;
  readonly kind: string;
  readonly reason_id: string;
  readonly reason: string;
  readonly op: string;
  readonly file: string;
  /** 0: no line is known. */
  readonly line: number;
  readonly code: string;
  readonly phase: string;
  readonly fix: string;
  readonly certainty: string;
  readonly variables: readonly string[];
  /** −1: not known. */
  readonly step: number;
  readonly evidence: readonly string[];
  readonly replica: number;
  readonly group: string;
}

export interface Sampling {
  readonly shown: number;
  readonly stored: number;
  readonly flag: string;
}

export interface RunAnswer {
  readonly run: string;
  readonly revision: string;
  readonly first_step: number | null;
  readonly last_step: number | null;
  readonly steps: number;
  readonly wall_time: number | null;
  readonly verdict: Verdict | null;
  readonly sentence: string;
  readonly checked: readonly string[];
  readonly groups: readonly Group[];
  readonly incidents: readonly Incident[];
  readonly causes: readonly Cause[];
  readonly sampling: Sampling | null;
  readonly problems: readonly string[];
  readonly newer_format: number | null;
}

export type Numbers = readonly (number | null)[];

export interface LinesAnswer {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly revision: string;
  readonly lines: readonly {
    readonly index: number;
    readonly min: Numbers;
    readonly mean: Numbers;
    readonly max: Numbers;
    readonly state: readonly number[];
  }[];
  readonly band: { readonly p5: Numbers; readonly p50: Numbers; readonly p95: Numbers };
  readonly loss: Numbers;
  readonly loss_max: Numbers;
  readonly learning_rate: Numbers;
  readonly global_norm: Numbers;
  readonly loss_scale: Numbers;
}

export interface FlightStep {
  readonly step: number;
  readonly state: string;
  readonly norm: number | null;
  readonly nan_elements: number;
  readonly inf_elements: number;
  readonly loss: number | null;
}

export interface VariableAnswer {
  readonly index: number;
  readonly name: string;
  readonly revision: string;
  readonly latest: {
    readonly step: number | null;
    readonly norm: number | null;
    readonly largest: number | null;
    readonly zero_share: number | null;
    readonly weight_norm: number | null;
    readonly update_ratio: number | null;
  };
  readonly totals: {
    readonly steps: number;
    readonly none: number;
    readonly zero: number;
    readonly nan: number;
    readonly inf: number;
    readonly handled: number;
    readonly norm_max: number | null;
    readonly norm_max_step: number | null;
    readonly norm_median: number | null;
    readonly first_bad_step: number | null;
    readonly nan_elements: number;
    readonly inf_elements: number;
  };
  readonly replicas: readonly {
    readonly replica: number;
    readonly norm_last: number | null;
    readonly first_bad_step: number | null;
  }[];
  readonly flight: readonly FlightStep[];
}

export interface Ranked {
  readonly index: number;
  readonly score: number;
  readonly state: string;
  readonly inside: number | null;
  readonly outside: number | null;
  readonly why: string;
}

export interface RankAnswer {
  readonly first: number;
  readonly last: number;
  readonly variables: readonly Ranked[];
}

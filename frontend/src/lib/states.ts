/** The states of a gradient and the verdicts on a variable: their order and their words. The one definition of both. */

/** What arrived within one cell, as tiles carry it. A larger value is more severe. */
export const State = { notRecorded: 0, finite: 1, zero: 2, none: 3, inf: 4, nan: 5 } as const;

export const STATE_WORDS: readonly string[] = [
  "not recorded",
  "finite",
  "exactly zero",
  "None",
  "Inf",
  "NaN",
];

/** The same where there is little room. */
export const STATE_SHORT: readonly string[] = ["–", "finite", "zero", "None", "Inf", "NaN"];

/** A state's key among `Health` values, for glyphs. */
export const STATE_HEALTH: readonly Health[] = ["not_recorded", "ok", "zero", "none", "inf", "nan"];

/** The verdict on a variable and the kinds of incidents, most severe first. */
export const HEALTH = [
  "error",
  "nan",
  "inf",
  "none",
  "zero",
  "exploding",
  "vanishing",
  "spiking",
  "oscillating",
  "overflow",
  "untracked",
  "not_recorded",
  "frozen",
  "ok",
] as const;

export type Health = (typeof HEALTH)[number];

export const HEALTH_WORDS: Readonly<Record<Health, string>> = {
  error: "error",
  nan: "NaN",
  inf: "Inf",
  none: "None",
  zero: "zero",
  exploding: "exploding",
  vanishing: "vanishing",
  spiking: "spiking",
  oscillating: "oscillating",
  overflow: "overflow",
  untracked: "untracked",
  not_recorded: "not recorded",
  frozen: "frozen",
  ok: "healthy",
};

/** Plain explanations for people who meet these words for the first time. */
export const HEALTH_MEANING: Readonly<Record<Health, string>> = {
  error: "The step raised an error, so there were no gradients to record.",
  nan: "The gradient holds values that are not numbers.",
  inf: "The gradient holds infinite values.",
  none: "No gradient reached this variable: the loss does not depend on it through differentiable operations.",
  zero: "A gradient arrived, and every element of it is exactly 0.",
  exploding: "The gradient keeps growing far beyond what it was.",
  vanishing: "The gradient has become too small to change the weights.",
  spiking: "The gradient jumped far above its usual size and came back.",
  oscillating: "The gradient swings between extremes.",
  overflow: "Not finite, but the loss scaler saw it and skipped that update.",
  untracked: "A layer uses this variable without tracking it: it is not trained.",
  not_recorded: "Nothing was recorded for this variable.",
  frozen: "Not trainable: no gradient is expected.",
  ok: "Nothing wrong was found.",
};

/** 0 is the most severe. Words from a newer server rank just before healthy. */
export function healthRank(health: string): number {
  const rank = (HEALTH as readonly string[]).indexOf(health);
  return rank < 0 ? HEALTH.length - 2 : rank;
}

/** Whether a variable in this state needs nobody's attention. */
export function isCalm(health: string): boolean {
  return health === "ok" || health === "frozen";
}

export function asHealth(word: string): Health {
  return (HEALTH as readonly string[]).includes(word) ? (word as Health) : "not_recorded";
}

/** The word shown for a state, also one that this page does not know yet. */
export function healthWord(word: string): string {
  return HEALTH_WORDS[word as Health] ?? word.replaceAll("_", " ");
}

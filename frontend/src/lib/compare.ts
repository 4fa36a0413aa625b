/** One run against another: which variables differ most. */

import type { Matrix } from "./binning";
import { healthRank } from "./states";

export interface Pair {
  readonly key: string;
  readonly name: string;
  readonly mainState: string;
  readonly otherState: string;
  readonly mainValues: Float32Array | null;
  readonly otherValues: Float32Array | null;
}

export interface Difference {
  readonly key: string;
  readonly name: string;
  readonly mainState: string;
  readonly otherState: string;
  /** Median of the other run over that of the main one; null where one has no finite value. */
  readonly ratio: number | null;
}

/** A different state counts more than any ratio. */
const STATE_BONUS = 100;

/** Most different first. */
export function differences(pairs: readonly Pair[]): Difference[] {
  return pairs
    .map((pair) => {
      const [main, other] = [median(pair.mainValues), median(pair.otherValues)];
      const ratio = main === null || other === null || main <= 0 ? null : other / main;
      const states = Math.abs(healthRank(pair.mainState) - healthRank(pair.otherState));
      const score = (pair.mainState === pair.otherState ? 0 : STATE_BONUS + states) + decades(ratio);
      const { key, name, mainState, otherState } = pair;
      return { score, difference: { key, name, mainState, otherState, ratio } };
    })
    .sort((a, b) => b.score - a.score)
    .map(({ difference }) => difference);
}

export function rowValues(matrix: Matrix | null, row: number): Float32Array | null {
  if (matrix === null || row < 0 || row >= matrix.rows) return null;
  return matrix.values.subarray(row * matrix.columns, (row + 1) * matrix.columns);
}

function decades(ratio: number | null): number {
  return ratio === null || ratio <= 0 ? 0 : Math.abs(Math.log10(ratio));
}

function median(values: Float32Array | null): number | null {
  if (values === null) return null;
  const finite = values.filter((value) => Number.isFinite(value)).sort();
  return finite.length === 0 ? null : finite[finite.length >> 1];
}

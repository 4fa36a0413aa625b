/** What a row shows at a step: for tooltips, for the table, for those who listen to the page. */

import type { Tile } from "../api/tile";
import type { RunAnswer } from "../api/types";
import { columnAt, columnEnds, type Keep } from "../lib/binning";
import { parseVariableKey, type Row, variableKey } from "../lib/rows";
import type { StepRange } from "../lib/viewport";
import { runAnswer } from "./selectors";
import type { Slots } from "./slots";

export interface Cell {
  readonly first: number;
  readonly last: number;
  readonly state: number;
  /** NaN where there is none. */
  readonly value: number;
}

/** Rows of tiles that a row of the page stands for. */
export interface Source {
  readonly group: string;
  readonly indices: readonly number[];
}

const ends = new WeakMap<Tile, Float64Array>();

export function endsOf(tile: Tile): Float64Array {
  let known = ends.get(tile);
  if (known === undefined) {
    known = columnEnds(tile);
    ends.set(tile, known);
  }
  return known;
}

/** Where another run keeps what a row of the main run shows; the row's own places for the main run itself. */
export function sourcesOf(row: Row, main: RunAnswer, other: RunAnswer): readonly Source[] {
  if (main === other) return [{ group: row.group, indices: row.members }];
  const pairs = pairing(main, other);
  const byGroup = new Map<string, number[]>();
  for (const index of row.members) {
    const place = parseVariableKey(pairs.get(variableKey(row.group, index)) ?? "");
    if (place === null) continue;
    const indices = byGroup.get(place.group);
    if (indices === undefined) byGroup.set(place.group, [place.index]);
    else indices.push(place.index);
  }
  return [...byGroup].map(([group, indices]) => ({ group, indices }));
}

const pairings = new WeakMap<RunAnswer, WeakMap<RunAnswer, ReadonlyMap<string, string>>>();

/**
 * From the keys of one run's variables to another's: the same name in the group of the same name, else in any group;
 * of several that share a name, the first goes with the first.
 */
export function pairing(main: RunAnswer, other: RunAnswer): ReadonlyMap<string, string> {
  const known = pairings.get(main)?.get(other);
  if (known !== undefined) return known;
  const inGroup = new Map<string, string>();
  const anywhere = new Map<string, string>();
  forEachNamed(other, (name, twin, group, key) => {
    inGroup.set(`${group}|${name}|${twin}`, key);
    if (!anywhere.has(`${name}|${twin}`)) anywhere.set(`${name}|${twin}`, key);
  });
  const pairs = new Map<string, string>();
  forEachNamed(main, (name, twin, group, key) => {
    const place = inGroup.get(`${group}|${name}|${twin}`) ?? anywhere.get(`${name}|${twin}`);
    if (place !== undefined) pairs.set(key, place);
  });
  if (!pairings.has(main)) pairings.set(main, new WeakMap());
  pairings.get(main)?.set(other, pairs);
  return pairs;
}

function forEachNamed(
  answer: RunAnswer,
  visit: (name: string, twin: number, group: string, key: string) => void,
): void {
  for (const group of answer.groups) {
    const seen = new Map<string, number>();
    for (const { name, index } of group.variables) {
      const twin = seen.get(name) ?? 0;
      seen.set(name, twin + 1);
      visit(name, twin, group.name, variableKey(group.name, index));
    }
  }
}

/** The matrix of all variables of a group over the whole run, coarse where the model is large. */
export function overviewOf(slots: Slots, run: string, group: string): Tile | null {
  return slots.value<Tile>(`overview|${run}|${group}`) ?? slots.value<Tile>(`whole|${run}|${group}`);
}

/** The finest tile that has a variable at all of some steps, and the variable's row in it. */
export function tileWith(
  slots: Slots,
  run: string,
  place: { readonly group: string; readonly index: number },
  steps: StepRange,
): { readonly tile: Tile; readonly row: number } | null {
  for (const id of ["part", "whole", "giant"]) {
    const tile = slots.value<Tile>(`${id}|${run}|${place.group}`);
    if (tile === null) continue;
    const row = tile.rowOf(place.index);
    const covers = id === "whole" || (tile.firstStep <= steps.first && tile.lastStep >= steps.last);
    if (row >= 0 && covers) return { tile, row };
  }
  return null;
}

/** The worst of what a row shows at a step; null where nothing is recorded there. */
export function readCell(
  slots: Slots,
  run: string,
  main: string,
  row: Row,
  step: number,
  keep: Keep,
): Cell | null {
  const answer = runAnswer(slots, run);
  const mainAnswer = runAnswer(slots, main);
  if (answer === null || mainAnswer === null) return null;
  let cell: Cell | null = null;
  for (const { group, indices } of sourcesOf(row, mainAnswer, answer)) {
    for (const index of indices) {
      const found = tileWith(slots, run, { group, index }, { first: step, last: step });
      const column = found === null ? -1 : columnAt(found.tile, endsOf(found.tile), step + 0.5);
      if (found === null || column < 0) continue;
      const { tile } = found;
      const at = found.row * tile.columns + column;
      const next = {
        first: tile.first[column],
        last: tile.last[column],
        state: tile.states[at],
        value: tile.values[at],
      };
      cell = cell === null ? next : merged(cell, next, keep);
    }
  }
  return cell;
}

function merged(a: Cell, b: Cell, keep: Keep): Cell {
  const pick = keep === "worst" ? Math.max : Math.min;
  const value = Number.isNaN(a.value) ? b.value : Number.isNaN(b.value) ? a.value : pick(a.value, b.value);
  return {
    first: Math.min(a.first, b.first),
    last: Math.max(a.last, b.last),
    state: Math.max(a.state, b.state),
    value,
  };
}

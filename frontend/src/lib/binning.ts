/**
 * From recorded columns to pixels: several columns may share a pixel, and then the worst wins.
 *
 * Promise: every column that overlaps the view is in at least one pixel, so no bad cell vanishes at any zoom.
 */

import { State } from "./states";
import type { Viewport } from "./viewport";

/** Columns of a matrix: steps, inclusive, rising, not overlapping. */
export interface Columns {
  readonly first: Float64Array;
  readonly last: Float64Array;
}

/** A matrix of variables × columns, row after row. */
export interface Matrix extends Columns {
  readonly rows: number;
  readonly columns: number;
  /** NaN where there is no value. */
  readonly values: Float32Array;
  readonly states: Uint8Array;
}

/** Pixel p shows the columns from[p] … to[p] − 1; none where they are equal. */
export interface Bins {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** What a row shows in each pixel. */
export interface Line {
  readonly states: Uint8Array;
  readonly values: Float32Array;
}

export type Keep = "worst" | "smallest";

/**
 * Where on the step axis each column stops being drawn.
 *
 * A training that is recorded every tenth step leaves nine steps between columns: such regular gaps are bridged, a gap
 * of more than twice the usual stays open.
 */
export function columnEnds({ first, last }: Columns): Float64Array {
  const ends = new Float64Array(first.length);
  const pitch = usualPitch(first);
  for (let c = 0; c < ends.length; c++) {
    const own = last[c] + 1;
    const next = c + 1 < ends.length ? first[c + 1] : own;
    ends[c] = next - first[c] <= Math.max(2 * pitch, own - first[c]) ? Math.max(own, next) : own;
  }
  return ends;
}

function usualPitch(first: Float64Array): number {
  if (first.length < 2) return 1;
  const gaps = new Float64Array(first.length - 1);
  for (let c = 0; c < gaps.length; c++) gaps[c] = first[c + 1] - first[c];
  gaps.sort();
  return gaps[gaps.length >> 1];
}

export function binColumns(columns: Columns, ends: Float64Array, view: Viewport, pixels: number): Bins {
  const from = new Int32Array(pixels);
  const to = new Int32Array(pixels);
  for (let c = firstEndingAfter(ends, view.start); c < ends.length && columns.first[c] < view.end; c++) {
    const left = Math.max(0, Math.floor(view.x(columns.first[c], pixels)));
    const right = Math.min(pixels, Math.max(left + 1, Math.ceil(view.x(ends[c], pixels))));
    for (let p = Math.min(left, pixels - 1); p < right; p++) {
      if (from[p] === to[p]) from[p] = c;
      to[p] = c + 1;
    }
  }
  return { from, to };
}

function firstEndingAfter(ends: Float64Array, position: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > position) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function blankLine(pixels: number): Line {
  return { states: new Uint8Array(pixels), values: new Float32Array(pixels).fill(Number.NaN) };
}

export function clearLine(line: Line): void {
  line.states.fill(State.notRecorded);
  line.values.fill(Number.NaN);
}

/** Merges one row of the matrix into a line: the most severe state, and the largest or smallest value. */
export function foldRow(matrix: Matrix, row: number, bins: Bins, keep: Keep, into: Line): void {
  const base = row * matrix.columns;
  for (let p = 0; p < bins.from.length; p++) {
    let state = into.states[p];
    let value = into.values[p];
    for (let c = base + bins.from[p]; c < base + bins.to[p]; c++) {
      if (matrix.states[c] > state) state = matrix.states[c];
      value = kept(value, matrix.values[c], keep);
    }
    into.states[p] = state;
    into.values[p] = value;
  }
}

function kept(a: number, b: number, keep: Keep): number {
  if (Number.isNaN(a)) return b;
  if (Number.isNaN(b)) return a;
  return keep === "worst" ? Math.max(a, b) : Math.min(a, b);
}

/** Where a row has a gradient and no value, its last value before stands for it. Changes `values`. */
export function holdForward({ rows, columns, states, values }: Matrix): void {
  for (let row = 0; row < rows; row++) {
    let last = Number.NaN;
    for (let at = row * columns; at < (row + 1) * columns; at++) {
      if (!Number.isNaN(values[at])) last = values[at];
      else if (states[at] === State.finite) values[at] = last;
    }
  }
}

/** Divides the values of a line by another's; NaN where one of them has none. */
export function divideLine(line: Line, by: Line): void {
  for (let p = 0; p < line.values.length; p++) line.values[p] /= by.values[p];
}

/** Bad cells narrower than `least` pixels grow to the right over cells that are less severe, so that an eye finds them. */
export function widenBad(line: Line, least: number): void {
  const { states } = line;
  for (let p = 0; p < states.length; ) {
    let end = p + 1;
    while (end < states.length && states[end] === states[p]) end++;
    const state = states[p];
    if (state > State.finite && end - p < least) {
      for (; end < states.length && end - p < least && states[end] < state; end++) states[end] = state;
      for (let q = p - 1; q >= 0 && end - 1 - q < least && states[q] < state; q--) states[q] = state;
    }
    p = end;
  }
}

/** The column that covers a position on the step axis, or −1. */
export function columnAt(columns: Columns, ends: Float64Array, position: number): number {
  const c = firstEndingAfter(ends, position);
  return c < ends.length && columns.first[c] <= position ? c : -1;
}

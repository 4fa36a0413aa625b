import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  binColumns,
  blankLine,
  columnAt,
  columnEnds,
  divideLine,
  foldRow,
  holdForward,
  type Matrix,
  widenBad,
} from "../src/lib/binning";
import { State } from "../src/lib/states";
import { Viewport } from "../src/lib/viewport";
import { anyMatrix } from "./worlds";

/** Any part of a matrix's steps, also beyond its ends. */
function anyView(matrix: Matrix): fc.Arbitrary<Viewport> {
  const from = matrix.first[0];
  const to = matrix.last[matrix.columns - 1];
  return fc
    .tuple(fc.integer({ min: from - 20, max: to }), fc.integer({ min: 1, max: to - from + 40 }))
    .map(([first, width]) => Viewport.of({ first, last: first + width - 1 }));
}

const matrixAndView = anyMatrix().chain((matrix) =>
  fc.tuple(fc.constant(matrix), anyView(matrix), fc.integer({ min: 1, max: 90 })),
);

function drawn(matrix: Matrix, view: Viewport, pixels: number, row: number) {
  const line = blankLine(pixels);
  foldRow(matrix, row, binColumns(matrix, columnEnds(matrix), view, pixels), "worst", line);
  return line;
}

describe("binning", () => {
  it("shows every bad cell that overlaps the view in at least one pixel, at any zoom", () => {
    fc.assert(
      fc.property(matrixAndView, ([matrix, view, pixels]) => {
        for (let row = 0; row < matrix.rows; row++) {
          const { states } = drawn(matrix, view, pixels, row);
          for (let c = 0; c < matrix.columns; c++) {
            if (matrix.first[c] >= view.end || matrix.last[c] + 1 <= view.start) continue;
            const from = Math.max(0, Math.floor(view.x(matrix.first[c], pixels)));
            const to = Math.min(pixels, Math.ceil(view.x(matrix.last[c] + 1, pixels)));
            const shown = states.slice(Math.min(from, pixels - 1), Math.max(to, from + 1));
            expect(Math.max(...shown)).toBeGreaterThanOrEqual(matrix.states[row * matrix.columns + c]);
          }
        }
      }),
    );
  });

  it("gives each pixel the worst of the columns that overlap it, as a double loop over pixels and columns does", () => {
    fc.assert(
      fc.property(matrixAndView, ([matrix, view, pixels]) => {
        const ends = columnEnds(matrix);
        const line = drawn(matrix, view, pixels, 0);
        for (let p = 0; p < pixels; p++) {
          let worst: number = State.notRecorded;
          let largest = Number.NaN;
          for (let c = 0; c < matrix.columns; c++) {
            const left = Math.floor(view.x(matrix.first[c], pixels));
            const right = Math.max(left + 1, Math.ceil(view.x(ends[c], pixels)));
            const seen = matrix.first[c] < view.end && ends[c] > view.start;
            if (!seen || p < Math.min(Math.max(left, 0), pixels - 1) || p >= Math.max(right, 1)) continue;
            worst = Math.max(worst, matrix.states[c]);
            const value = matrix.values[c];
            if (Number.isNaN(largest) || value > largest) largest = value;
          }
          expect(line.states[p]).toBe(worst);
          expect(line.values[p]).toBe(largest);
        }
      }),
    );
  });

  it("keeps the smallest value when asked to, and still the worst state", () => {
    const matrix = {
      rows: 1,
      columns: 3,
      first: Float64Array.of(0, 1, 2),
      last: Float64Array.of(0, 1, 2),
      states: Uint8Array.of(State.finite, State.nan, State.finite),
      values: Float32Array.of(5, Number.NaN, 2),
    };
    const line = blankLine(1);
    foldRow(
      matrix,
      0,
      binColumns(matrix, columnEnds(matrix), Viewport.of({ first: 0, last: 2 }), 1),
      "smallest",
      line,
    );
    expect([...line.states]).toEqual([State.nan]);
    expect([...line.values]).toEqual([2]);
  });

  it("bridges the regular gaps of a training recorded every tenth step, and leaves a real hole open", () => {
    const first = Float64Array.of(0, 10, 20, 30, 400, 410);
    expect([...columnEnds({ first, last: first })]).toEqual([10, 20, 30, 31, 410, 411]);
  });

  it("never ends a column before its own last step", () => {
    fc.assert(
      fc.property(anyMatrix(), (matrix) => {
        columnEnds(matrix).forEach((end, c) => {
          expect(end).toBeGreaterThan(matrix.last[c]);
          if (c + 1 < matrix.columns) expect(end).toBeLessThanOrEqual(matrix.first[c + 1]);
        });
      }),
    );
  });

  it("finds the column that covers a step, or none in a hole", () => {
    fc.assert(
      fc.property(anyMatrix(), fc.integer({ min: -10, max: 3000 }), (matrix, offset) => {
        const step = matrix.first[0] + offset;
        const ends = columnEnds(matrix);
        const expected = [...matrix.first].findIndex((first, c) => first <= step && step < ends[c]);
        expect(columnAt(matrix, ends, step)).toBe(expected);
      }),
    );
  });
});

describe("widenBad", () => {
  const anyStates = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 80 });

  it("makes no cell less severe, and widens nothing that is not bad", () => {
    fc.assert(
      fc.property(anyStates, fc.integer({ min: 1, max: 6 }), (states, least) => {
        const line = { ...blankLine(states.length), states: Uint8Array.from(states) };
        widenBad(line, least);
        line.states.forEach((state, p) => {
          expect(state).toBeGreaterThanOrEqual(states[p]);
          if (state !== states[p]) expect(state).toBeGreaterThan(State.finite);
        });
      }),
    );
  });

  it("gives a lone NaN the least width wherever it stands", () => {
    for (const at of [0, 7, 19]) {
      const line = { ...blankLine(20), states: new Uint8Array(20).fill(State.finite) };
      line.states[at] = State.nan;
      widenBad(line, 3);
      expect(line.states.filter((state) => state === State.nan).length).toBe(3);
    }
  });
});

describe("divideLine", () => {
  it("divides where both have a value", () => {
    const a = { ...blankLine(3), values: Float32Array.of(6, 1, Number.NaN) };
    divideLine(a, { ...blankLine(3), values: Float32Array.of(2, Number.NaN, 4) });
    expect([...a.values]).toEqual([3, Number.NaN, Number.NaN]);
  });
});

describe("holdForward", () => {
  it("lets the last measurement stand where there is a gradient and no value, and nowhere else", () => {
    const none = Number.NaN;
    const matrix = {
      rows: 2,
      columns: 5,
      first: Float64Array.of(0, 1, 2, 3, 4),
      last: Float64Array.of(0, 1, 2, 3, 4),
      values: Float32Array.of(none, 2, none, none, 3, none, none, 5, none, none),
      states: Uint8Array.of(1, 1, 1, 5, 1, 1, 1, 1, 0, 1),
    };
    holdForward(matrix);
    expect([...matrix.values]).toEqual([none, 2, 2, none, 3, none, none, 5, none, 5]);
  });
});

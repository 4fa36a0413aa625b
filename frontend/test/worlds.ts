/** Small worlds for the tests: matrices, runs and servers made of plain values. */

import fc from "fast-check";
import type { Group, Incident, RunAnswer, Variable } from "../src/api/types";
import type { Matrix } from "../src/lib/binning";

/** Matrices as the server sends them: rising columns of one or more steps, with gaps, every state, NaN where no value. */
export function anyMatrix(most = { rows: 4, columns: 60 }): fc.Arbitrary<Matrix> {
  return fc
    .tuple(
      fc.integer({ min: 1, max: most.rows }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 25 })), {
        minLength: 1,
        maxLength: most.columns,
      }),
      fc.integer({ min: -5, max: 1_000_000 }),
    )
    .chain(([rows, spans, begin]) => {
      const cells = rows * spans.length;
      return fc
        .tuple(
          fc.array(fc.integer({ min: 0, max: 5 }), { minLength: cells, maxLength: cells }),
          fc.array(fc.oneof(fc.constant(Number.NaN), fc.float({ min: 0, noNaN: true, max: 1e6 })), {
            minLength: cells,
            maxLength: cells,
          }),
        )
        .map(([states, values]) => {
          const first: number[] = [];
          const last: number[] = [];
          let at = begin;
          for (const [width, gap] of spans) {
            first.push(at);
            last.push(at + width - 1);
            at += width + gap;
          }
          return {
            rows,
            columns: spans.length,
            first: Float64Array.from(first),
            last: Float64Array.from(last),
            states: Uint8Array.from(states),
            values: Float32Array.from(values),
          };
        });
    });
}

export function variable(index: number, given: Partial<Variable> = {}): Variable {
  return {
    index,
    name: `layer${index}/kernel`,
    layer: `layer${index}`,
    shape: [3, 4],
    dtype: "float32",
    size: 12,
    role: "trained",
    expected_none: false,
    state: "ok",
    since: null,
    norm: 1,
    rule: "",
    evidence: {},
    ...given,
  };
}

export function group(
  name: string,
  variables: readonly Partial<Variable>[],
  given: Partial<Group> = {},
): Group {
  return {
    name,
    optimizer: "Adam",
    hooked: "keras.fit",
    replicas: 1,
    every: "auto",
    clip_norm: null,
    global_clip_norm: null,
    clip_value: null,
    norm_of: "gradient",
    software: {},
    variables: variables.map((v, i) => variable(i, v)),
    ...given,
  };
}

export function incident(id: number, given: Partial<Incident> = {}): Incident {
  return {
    id,
    kind: "nan",
    severity: "bad",
    group: "adam",
    first_step: 10,
    last_step: 12,
    steps: 3,
    variables: [0],
    sentence: "NaN in layer0/kernel.",
    evidence: {},
    cause: null,
    open: false,
    ...given,
  };
}

export function runAnswerOf(groups: readonly Group[], given: Partial<RunAnswer> = {}): RunAnswer {
  return {
    run: "a/gradhealth",
    revision: "r1",
    first_step: 0,
    last_step: 99,
    steps: 100,
    wall_time: 1000,
    verdict: "healthy",
    sentence: "Healthy.",
    checked: [],
    groups,
    incidents: [],
    causes: [],
    sampling: null,
    problems: [],
    newer_format: null,
    ...given,
  };
}

/** The bytes of a tile, written independently of the page's decoder. */
export function tileBytes(header: object, matrix: Matrix): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((4 + text.length) % 8 !== 0) text += " ";
  const { columns } = matrix;
  const bytes = new ArrayBuffer(4 + text.length + 16 * columns + 5 * matrix.rows * columns);
  const view = new DataView(bytes);
  view.setUint32(0, text.length, true);
  let at = 4;
  for (const letter of text) view.setUint8(at++, letter.charCodeAt(0));
  for (const step of [...matrix.first, ...matrix.last]) {
    view.setFloat64(at, step, true);
    at += 8;
  }
  for (const value of matrix.values) {
    view.setFloat32(at, value, true);
    at += 4;
  }
  for (const state of matrix.states) view.setUint8(at++, state);
  return bytes;
}

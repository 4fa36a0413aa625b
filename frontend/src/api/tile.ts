/** The binary matrix of `GET tile`. */

import type { Matrix } from "../lib/binning";
import { METRICS, type Metric } from "../lib/scale";

export interface Tile extends Matrix {
  readonly metric: Metric;
  readonly revision: string;
  /** The steps that were asked for, inclusive. */
  readonly firstStep: number;
  readonly lastStep: number;
  /** The row of a variable; −1: it is not in here. */
  rowOf(variable: number): number;
}

/**
 * Views into the answer; nothing is copied.
 *
 * @throws Error if the answer is not as long as its header says.
 */
export function decodeTile(buffer: ArrayBuffer): Tile {
  if (buffer.byteLength < 4) throw new Error(`A tile of ${buffer.byteLength} bytes has no header.`);
  const headerBytes = new DataView(buffer).getUint32(0, true);
  if (4 + headerBytes > buffer.byteLength) throw new Error("A tile ends inside its header.");
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headerBytes)));
  const rows: number = header.rows;
  const columns: number = header.columns;
  const cells = columns === 0 ? 0 : rows * columns;
  const begin = 4 + headerBytes;
  const need = begin + 16 * columns + 5 * cells;
  if (buffer.byteLength < need) {
    throw new Error(`A tile of ${rows} × ${columns} needs ${need} bytes; received ${buffer.byteLength}.`);
  }
  return {
    rows,
    columns,
    metric: METRICS.includes(header.metric) ? header.metric : "norm_max",
    revision: String(header.revision ?? ""),
    firstStep: Number(header.first_step ?? 0),
    lastStep: Number(header.last_step ?? -1),
    rowOf: placesOf(header.variables ?? null, rows),
    first: new Float64Array(buffer, begin, columns),
    last: new Float64Array(buffer, begin + 8 * columns, columns),
    values: new Float32Array(buffer, begin + 16 * columns, cells),
    states: new Uint8Array(buffer, begin + 16 * columns + 4 * cells, cells),
  };
}

function placesOf(variables: readonly number[] | null, rows: number): (variable: number) => number {
  if (variables === null) return (variable) => (variable < rows ? variable : -1);
  const places = new Map(variables.map((variable, row) => [variable, row]));
  return (variable) => places.get(variable) ?? -1;
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Client, Refused, Unreachable } from "../src/api/client";
import { decodeTile } from "../src/api/tile";
import { anyMatrix, tileBytes } from "./worlds";

const signal = new AbortController().signal;
const BASE = "http://host:6006/prefix/data/plugin/gradhealth/";

function answering(status: number, body: BodyInit, asked: string[] = []): Client {
  return new Client(BASE, async (input) => {
    asked.push(String(input));
    return new Response(body, { status });
  });
}

describe("decodeTile", () => {
  it("reads back what the format says was written, down to the last bit", () => {
    fc.assert(
      fc.property(anyMatrix(), (matrix) => {
        const header = {
          rows: matrix.rows,
          columns: matrix.columns,
          metric: "largest",
          first_step: 3,
          last_step: 9,
          revision: "r",
        };
        const tile = decodeTile(tileBytes(header, matrix));
        expect(tile).toMatchObject({
          rows: matrix.rows,
          metric: "largest",
          firstStep: 3,
          lastStep: 9,
          revision: "r",
        });
        expect([tile.first, tile.last, tile.values, tile.states]).toEqual([
          matrix.first,
          matrix.last,
          matrix.values,
          matrix.states,
        ]);
      }),
    );
  });

  it("knows the row of each variable that was asked for, and of no other", () => {
    const matrix = {
      rows: 2,
      columns: 1,
      first: Float64Array.of(0),
      last: Float64Array.of(9),
      values: Float32Array.of(1, 2),
      states: Uint8Array.of(1, 1),
    };
    const header = { rows: 2, columns: 1, metric: "norm_max" };
    const some = decodeTile(tileBytes({ ...header, variables: [700, 3] }, matrix));
    expect([700, 3, 0, 1].map((variable) => some.rowOf(variable))).toEqual([0, 1, -1, -1]);
    const all = decodeTile(tileBytes({ ...header, variables: null }, matrix));
    expect([0, 1, 2].map((variable) => all.rowOf(variable))).toEqual([0, 1, -1]);
  });

  it("reads the empty answer", () => {
    const empty = {
      rows: 5,
      columns: 0,
      first: new Float64Array(),
      last: new Float64Array(),
      values: new Float32Array(),
      states: new Uint8Array(),
    };
    expect(decodeTile(tileBytes({ rows: 5, columns: 0, metric: "norm_max" }, empty))).toMatchObject({
      rows: 5,
      columns: 0,
    });
  });

  it("refuses an answer that was cut off, wherever", () => {
    fc.assert(
      fc.property(anyMatrix(), fc.double({ min: 0, max: 0.999, noNaN: true }), (matrix, share) => {
        const bytes = tileBytes({ rows: matrix.rows, columns: matrix.columns, metric: "norm_max" }, matrix);
        expect(() => decodeTile(bytes.slice(0, Math.floor(bytes.byteLength * share)))).toThrow();
      }),
    );
  });
});

describe("Client", () => {
  it("asks below its own base, with names as they are", async () => {
    const asked: string[] = [];
    const client = answering(200, "{}", asked);
    await client.run("a&b=c/../x y", signal);
    await client.rank("r", "g", { first: 1, last: 2 }, signal);
    expect(asked).toEqual([
      `${BASE}run?run=a%26b%3Dc%2F..%2Fx+y`,
      `${BASE}rank?run=r&group=g&first=1&last=2`,
    ]);
  });

  it("leaves out what was not set", () => {
    const address = answering(200, "").tableAddress(
      {
        run: "r",
        group: "g",
        range: { first: 0, last: 9 },
        columns: 5,
        metric: "norm_max",
        replica: null,
      },
      "smallest",
    );
    expect(address).toBe(`${BASE}table?run=r&group=g&first=0&last=9&columns=5&metric=norm_max&keep=smallest`);
  });

  it("hands on the server's sentence when it refuses", async () => {
    await expect(answering(404, "There is no run 'x'.").run("x", signal)).rejects.toEqual(
      new Refused(404, "There is no run 'x'."),
    );
  });

  it("shows no page of an error as if it were a sentence", async () => {
    const failed = answering(500, "<!doctype html><h1>Internal Server Error</h1>").run("x", signal);
    await expect(failed).rejects.toThrow("The server answered with status 500.");
  });

  it("tells a server that is gone from one that refuses", async () => {
    const gone = new Client(BASE, () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(gone.runs(signal)).rejects.toBeInstanceOf(Unreachable);
    await expect(answering(503, "").runs(signal)).rejects.toBeInstanceOf(Unreachable);
  });
});

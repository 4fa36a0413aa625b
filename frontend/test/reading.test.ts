import { describe, expect, it } from "vitest";
import type { Tile } from "../src/api/tile";
import { buildRows } from "../src/lib/rows";
import { State } from "../src/lib/states";
import { pairing, readCell, sourcesOf } from "../src/store/reading";
import { Slots } from "../src/store/slots";
import { group, runAnswerOf } from "./worlds";

const ALL = { sort: "model", text: "", states: [], toggled: new Set<string>() } as const;

describe("pairing", () => {
  it("goes by name within the group of the same name, else in any, and twins in their order", () => {
    const main = runAnswerOf([group("adam", [{ name: "w" }, { name: "w" }, { name: "only" }])]);
    const other = runAnswerOf(
      [group("sgd", [{ name: "b" }, { name: "w" }]), group("adam", [{ name: "w" }])],
      { run: "b" },
    );
    expect([...pairing(main, other)]).toEqual([["v|adam|0", "v|adam|0"]]);
    const both = runAnswerOf([group("adam", [{ name: "x" }, { name: "w" }, { name: "w" }])], { run: "c" });
    expect([...pairing(main, both)]).toEqual([
      ["v|adam|0", "v|adam|1"],
      ["v|adam|1", "v|adam|2"],
    ]);
  });

  it("finds a variable whose group is called otherwise", () => {
    const main = runAnswerOf([group("adam", [{ name: "w" }])]);
    const other = runAnswerOf([group("sgd", [{ name: "b" }, { name: "w" }])], { run: "b" });
    const row = buildRows(main.groups, ALL)[0];
    expect(sourcesOf(row, main, other)).toEqual([{ group: "sgd", indices: [1] }]);
  });
});

describe("readCell", () => {
  const answer = runAnswerOf([group("adam", [{ layer: "l" }, { layer: "l" }])]);
  const tile: Tile = {
    rows: 2,
    columns: 2,
    first: Float64Array.of(0, 10),
    last: Float64Array.of(9, 19),
    values: Float32Array.of(1, 2, Number.NaN, 8),
    states: Uint8Array.of(State.finite, State.finite, State.nan, State.finite),
    metric: "norm_max",
    revision: "r1",
    firstStep: 0,
    lastStep: 19,
    rowOf: (variable) => (variable < 2 ? variable : -1),
  };
  const world = async () => {
    const slots = new Slots();
    slots.sync([
      { id: `run|${answer.run}`, key: "", load: async () => answer },
      { id: `whole|${answer.run}|adam`, key: "", load: async () => tile },
    ]);
    await new Promise((done) => setTimeout(done, 1));
    return slots;
  };

  it("is the worst of a folded layer's variables at that step", async () => {
    const layer = buildRows(answer.groups, ALL)[0];
    const slots = await world();
    expect(readCell(slots, answer.run, answer.run, layer, 3, "worst")).toEqual({
      first: 0,
      last: 9,
      state: State.nan,
      value: 1,
    });
    expect(readCell(slots, answer.run, answer.run, layer, 12, "smallest")).toMatchObject({
      state: State.finite,
      value: 2,
    });
  });

  it("is nothing where nothing was recorded", async () => {
    expect(
      readCell(await world(), answer.run, answer.run, buildRows(answer.groups, ALL)[0], 99, "worst"),
    ).toBeNull();
  });
});

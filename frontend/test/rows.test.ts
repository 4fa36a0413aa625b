import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  buildRows,
  type Leaf,
  parseVariableKey,
  type RowOptions,
  variableKey,
  variablesBetween,
} from "../src/lib/rows";
import { HEALTH } from "../src/lib/states";

const PLAIN: RowOptions = { sort: "worst", text: "", states: [], toggled: new Set() };

function leaf(index: number, name: string, state = "ok", since: number | null = null): Leaf {
  return { index, name, layer: name.slice(0, Math.max(0, name.lastIndexOf("/"))), state, since };
}

const MODEL = [
  {
    name: "adam",
    variables: [
      leaf(0, "a/w"),
      leaf(1, "a/b"),
      leaf(2, "b/w", "nan", 7),
      leaf(3, "b/b"),
      leaf(4, "c/w", "none", 0),
      leaf(5, "c/b"),
    ],
  },
];

const labels = (options: Partial<RowOptions> = {}) =>
  buildRows(MODEL, { ...PLAIN, ...options }).map((row) => row.label);

describe("buildRows", () => {
  it("puts the worst layer first and folds healthy ones to a line", () => {
    expect(labels()).toEqual(["b", "w", "b", "c", "w", "b", "a"]);
  });

  it("unfolds and folds what the user turns round", () => {
    expect(labels({ toggled: new Set(["l|adam|a", "l|adam|b"]) })).toEqual([
      "b",
      "c",
      "w",
      "b",
      "a",
      "w",
      "b",
    ]);
  });

  it("keeps the model's order, or goes by name with numbers in order", () => {
    expect(labels({ sort: "model" })[0]).toBe("a");
    const rows = buildRows([{ name: "g", variables: [leaf(0, "x10/w"), leaf(1, "x9/w")] }], {
      ...PLAIN,
      sort: "name",
    });
    expect(rows.map((row) => row.title)).toEqual(["x9/w", "x10/w"]);
  });

  it("filters by words, by state: and by layer:, and shows what it found unfolded", () => {
    expect(labels({ text: "A/ w" })).toEqual(["a/w"]);
    expect(labels({ text: "state:no" })).toEqual(["c/w"]);
    expect(labels({ text: "layer:a" })).toEqual(["a", "w", "b"]);
    expect(labels({ states: ["nan", "none"] })).toEqual(["b/w", "c/w"]);
    expect(labels({ text: "nothing like it" })).toEqual([]);
  });

  it("tells variables of one name apart by their numbers", () => {
    const rows = buildRows([{ name: "g", variables: [leaf(0, "twin"), leaf(1, "twin"), leaf(2, "other")] }], {
      ...PLAIN,
      toggled: new Set(["l|g|"]),
    });
    expect(rows.filter((row) => row.kind === "variable").map((row) => row.label)).toEqual([
      "twin #0",
      "twin #1",
      "other",
    ]);
  });

  it("gives several groups a row each, the worst first", () => {
    const rows = buildRows([{ name: "fine", variables: [leaf(0, "a/w")] }, ...MODEL], PLAIN);
    expect(rows.filter((row) => row.kind === "group").map((row) => row.label)).toEqual(["adam", "fine"]);
    expect(rows[1].level).toBe(2);
  });

  it("among equally ill ones puts the one that is ill for longest first", () => {
    const rows = buildRows(
      [{ name: "g", variables: [leaf(0, "x/w", "nan", 90), leaf(1, "y/w", "nan", 5)] }],
      PLAIN,
    );
    expect(rows.map((row) => row.title)).toEqual(["y/w", "x/w"]);
  });

  it("shows each matching variable exactly once, unfolded or inside its folded layer, whatever it is called", () => {
    const anyName = fc.oneof(fc.string(), fc.constantFrom("a/w", "a/b", "v|a|1", "<b>", "слой/ядро"));
    const anyLeaves = fc.array(fc.tuple(anyName, fc.constantFrom(...HEALTH)), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(anyLeaves, fc.constantFrom("worst", "model", "name"), (given, sort) => {
        const variables = given.map(([name, state], i) => leaf(i, name, state, i));
        const rows = buildRows([{ name: "g|x", variables }], { ...PLAIN, sort: sort as RowOptions["sort"] });
        const shown = rows.filter((row) => row.expanded !== true).flatMap((row) => row.members);
        expect([...shown].sort((a, b) => a - b)).toEqual(variables.map((v) => v.index));
        expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
      }),
    );
  });
});

describe("keys", () => {
  it("come back as the group and index they were made of", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (group, index) => {
        expect(parseVariableKey(variableKey(group, index))).toEqual({ group, index });
      }),
    );
    expect(parseVariableKey("l|adam|3")).toBeNull();
  });
});

describe("variablesBetween", () => {
  const rows = buildRows(MODEL, PLAIN);
  it("is what the rows of a box show", () => {
    const inside = variablesBetween(rows, [variableKey("adam", 2), variableKey("adam", 3)]);
    expect([...inside]).toEqual([variableKey("adam", 2), variableKey("adam", 3)]);
  });
  it("is everything when a row is not there any more", () => {
    expect(variablesBetween(rows, ["gone", "gone too"]).size).toBe(6);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { variableKey } from "../src/lib/rows";
import { spans } from "../src/lib/spans";
import { drawnOf, PAGE, rowsOf, rowWindow, SMALL } from "../src/store/drawn";
import { type AppState, INITIAL } from "../src/store/state";
import { group, runAnswerOf } from "./worlds";

function state(given: Partial<AppState> = {}, view: Partial<AppState["view"]> = {}): AppState {
  return { ...INITIAL, ...given, view: { ...INITIAL.view, sort: "model", picked: [], ...view } };
}

/** Layers of four variables each. */
function large(layers: number, name = "adam") {
  return group(
    name,
    Array.from({ length: 4 * layers }, (_, i) => ({ name: `l${i >> 2}/v${i % 4}`, layer: `l${i >> 2}` })),
  );
}

describe("spans", () => {
  it("say the same indices, each once", () => {
    expect(spans([4, 0, 1, 2, 9, 1])).toBe("0-2,4,9");
    fc.assert(
      fc.property(fc.array(fc.nat(60)), (indices) => {
        const read = spans(indices)
          .split(",")
          .filter((part) => part !== "")
          .flatMap((part) => {
            const [first, last = first] = part.split("-").map(Number);
            return Array.from({ length: last - first + 1 }, (_, i) => first + i);
          });
        expect(read).toEqual([...new Set(indices)].sort((a, b) => a - b));
      }),
    );
  });
});

describe("what is drawn", () => {
  it("is everything of a small model", () => {
    const answer = runAnswerOf([large(SMALL / 4)]);
    expect(drawnOf(state(), answer, answer)).toEqual({ variables: null, giant: false });
  });

  it("is, of a large one, what the rows in sight fold, and the variables with a curve", () => {
    const answer = runAnswerOf([large(500)]);
    const seen = drawnOf(
      state({ rowWindow: { from: 2, to: 4 } }, { picked: ["v|adam|1999"] }),
      answer,
      answer,
    );
    expect([...(seen.variables?.get("adam") ?? [])]).toEqual([8, 9, 10, 11, 12, 13, 14, 15, 1999]);
    expect(seen.giant).toBe(false);
  });

  it("says so where a row folds too many variables", () => {
    const answer = runAnswerOf([large(60, "generator"), large(60, "discriminator")]);
    const seen = drawnOf(state({ rowWindow: { from: 0, to: 3 } }), answer, answer);
    expect(seen.giant).toBe(true);
    expect([...(seen.variables?.get("generator") ?? [])]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(seen.variables?.has("discriminator")).toBe(false);
  });

  it("is, of a run beside, what goes by the same names", () => {
    const main = runAnswerOf([large(100)]);
    const other = runAnswerOf(
      [group("sgd", [{ name: "new" }, ...large(100).variables.map(({ index: _, ...rest }) => rest)])],
      { run: "b" },
    );
    const seen = drawnOf(state({ rowWindow: { from: 0, to: 1 } }), main, other);
    expect([...(seen.variables?.get("sgd") ?? [])]).toEqual([1, 2, 3, 4]);
  });

  it("covers every row in sight at any place, and changes only from page to page", () => {
    fc.assert(
      fc.property(fc.nat(5000), fc.integer({ min: 1, max: 90 }), (from, rows) => {
        const window = rowWindow(from, from + rows);
        expect(window.from).toBeLessThanOrEqual(from);
        expect(window.to).toBeGreaterThanOrEqual(from + rows);
        expect([window.from % PAGE, window.to % PAGE]).toEqual([0, 0]);
      }),
    );
  });
});

describe("the rows", () => {
  it("are worked out once for each answer and order", () => {
    const answer = runAnswerOf([large(3)]);
    const { view } = state();
    expect(rowsOf(answer, { ...view, metric: "largest" })).toBe(rowsOf(answer, view));
    expect(rowsOf(answer, { ...view, text: "l1/" }).map((row) => row.key)).toContain(variableKey("adam", 4));
  });
});

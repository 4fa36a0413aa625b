import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differences } from "../src/lib/compare";
import { drawable, fitY, fromTop, nearest, visible } from "../src/lib/curves";

const rising = fc
  .uniqueArray(fc.integer({ min: 0, max: 10_000 }), { maxLength: 60 })
  .map((x) => x.sort((a, b) => a - b));

describe("fitY", () => {
  it("holds every value in view that can be drawn", () => {
    const anyValue = fc.oneof(fc.constant(null), fc.double({ min: 1e-9, max: 1e9, noNaN: true }));
    fc.assert(
      fc.property(fc.array(anyValue, { minLength: 1, maxLength: 40 }), fc.boolean(), (y, log) => {
        const x = y.map((_, i) => i + 0.5);
        const scale = fitY([{ x, ys: [y] }], [], log, 0, y.length);
        for (const value of y) {
          if (!drawable(value, log)) continue;
          const top = fromTop(value, scale);
          expect(top).toBeGreaterThanOrEqual(0);
          expect(top).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("makes room for a guide nearby, and is not flattened by one far away", () => {
    const parts = [{ x: [0.5], ys: [[1]] }];
    expect(fitY(parts, [{ value: 50, words: "" }], true, 0, 1).high).toBe(100);
    expect(fitY(parts, [{ value: 1e9, words: "" }], true, 0, 1).high).toBe(10);
  });

  it("has a range where there is nothing to draw", () => {
    expect(fitY([], [], true, 0, 1)).toEqual({ low: 1e-3, high: 1, log: true });
  });
});

describe("positions", () => {
  it("in view are found with one more on each side", () => {
    fc.assert(
      fc.property(
        rising,
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 1, max: 5000 }),
        (x, start, width) => {
          const [from, to] = visible(x, start, start + width);
          x.forEach((at, i) => {
            if (at >= start && at < start + width) expect(i >= from && i < to).toBe(true);
          });
          expect(to - from).toBeLessThanOrEqual(
            x.filter((at) => at >= start && at < start + width).length + 2,
          );
        },
      ),
    );
  });

  it("nearest to a point are found", () => {
    fc.assert(
      fc.property(rising, fc.integer({ min: -100, max: 11_000 }), (x, point) => {
        const found = nearest(x, point);
        if (x.length === 0) expect(found).toBe(-1);
        else expect(Math.abs(x[found] - point)).toBe(Math.min(...x.map((at) => Math.abs(at - point))));
      }),
    );
  });
});

describe("differences", () => {
  const pair = (key: string, states: [string, string], main: number[], other: number[]) => ({
    key,
    name: key,
    mainState: states[0],
    otherState: states[1],
    mainValues: Float32Array.from(main),
    otherValues: Float32Array.from(other),
  });

  it("put another state before any ratio, and the farther ratio before the nearer", () => {
    const found = differences([
      pair("same", ["ok", "ok"], [1, 1, 1], [1, 1, 1]),
      pair("tenfold", ["ok", "ok"], [1, 1, 1], [0.1, 0.1, 0.1]),
      pair("ill", ["nan", "ok"], [1, Number.NaN, 1], [1, 1, 1]),
    ]);
    expect(found.map((d) => d.key)).toEqual(["ill", "tenfold", "same"]);
    expect(found[1].ratio).toBeCloseTo(0.1);
  });

  it("know no ratio where a run has no finite value", () => {
    expect(differences([pair("none", ["none", "ok"], [Number.NaN], [1])])[0].ratio).toBeNull();
  });
});

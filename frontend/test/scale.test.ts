import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  axisTicks,
  decadeTicks,
  FIXED_DOMAIN,
  fittedDomain,
  METRICS,
  position,
  stepTicks,
} from "../src/lib/scale";

describe("position", () => {
  it("is 0 and 1 at the ends, and outside of them too", () => {
    for (const metric of METRICS) {
      const domain = FIXED_DOMAIN[metric];
      expect(position(domain.low, domain)).toBeCloseTo(0, 9);
      expect(position(domain.high, domain)).toBeCloseTo(1, 9);
      expect(position(domain.high * 1e6 + 1, domain)).toBe(1);
      expect(position(-1, domain)).toBe(0);
    }
  });

  it("grows with the value, and has no place for NaN", () => {
    const domain = FIXED_DOMAIN.norm_max;
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (a, b) => {
          expect(
            Math.sign(position(a, domain) - position(b, domain)) * Math.sign(a - b),
          ).toBeGreaterThanOrEqual(0);
        },
      ),
    );
    expect(position(Number.NaN, domain)).toBeNaN();
  });
});

describe("fittedDomain", () => {
  it("is the decades around the values", () => {
    const { low, high } = fittedDomain(
      Float32Array.of(0.02, 0.5, 3, Number.NaN, Infinity),
      FIXED_DOMAIN.norm_max,
    );
    expect([low, high]).toEqual([0.01, 10]);
  });

  it("is the fixed one where there is nothing to fit, or nothing to gain", () => {
    expect(fittedDomain(Float32Array.of(0, Number.NaN), FIXED_DOMAIN.norm_max)).toBe(FIXED_DOMAIN.norm_max);
    expect(fittedDomain(Float32Array.of(0.5), FIXED_DOMAIN.zero_share)).toBe(FIXED_DOMAIN.zero_share);
  });
});

describe("ticks", () => {
  it("of steps are whole, inside the view and not too many", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e8 }),
        fc.integer({ min: 1, max: 1e8 }),
        fc.integer({ min: 1, max: 20 }),
        (start, width, most) => {
          const ticks = stepTicks(start, start + width, most);
          expect(ticks.length).toBeLessThanOrEqual(most + 1);
          for (const tick of ticks) {
            expect(Number.isInteger(tick)).toBe(true);
            expect(tick).toBeGreaterThanOrEqual(start);
            expect(tick).toBeLessThan(start + width);
          }
        },
      ),
    );
  });

  it("of a logarithmic axis are powers of ten inside it", () => {
    expect(decadeTicks({ low: 1e-3, high: 10, log: true }, 6)).toEqual(
      [1e-3, 1e-2, 1e-1, 1, 10].map((v) => expect.closeTo(v)),
    );
    expect(decadeTicks({ low: 1e-12, high: 1e12, log: true }, 6).length).toBeLessThanOrEqual(6);
  });

  it("of a linear axis are round and without float dust", () => {
    expect(axisTicks(0, 1, false)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(axisTicks(1, 1, false)).toEqual([]);
  });
});

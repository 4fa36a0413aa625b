import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blankLine } from "../src/lib/binning";
import { badStretches, paintLine, rampColour } from "../src/lib/raster";
import { position } from "../src/lib/scale";
import { State } from "../src/lib/states";
import { DARK, LIGHT, pixelColours } from "../src/theme/palette";

const DOMAIN = { low: 1e-6, high: 1e3, log: true };
const COLOURS = pixelColours(LIGHT);

function painted(states: number[], values: number[], height = 12): Uint32Array {
  const line = {
    ...blankLine(states.length),
    states: Uint8Array.from(states),
    values: Float32Array.from(values),
  };
  const pixels = new Uint32Array(states.length * height);
  const strip = { pixels, stride: states.length, top: 1, bottom: height - 1 };
  paintLine(line, { colours: COLOURS, domain: DOMAIN, strip, dot: 1 });
  return pixels;
}

describe("paintLine", () => {
  it("paints each cell as a double loop over pixels would, and nothing above or below the row", () => {
    const anyCell = fc.tuple(
      fc.integer({ min: 0, max: 5 }),
      fc.float({ min: Math.fround(1e-4), max: 100, noNaN: true }),
    );
    fc.assert(
      fc.property(fc.array(anyCell, { minLength: 1, maxLength: 40 }), (cells) => {
        const height = 12;
        const pixels = painted(
          cells.map(([s]) => s),
          cells.map(([, v]) => v),
          height,
        );
        cells.forEach(([state, value], x) => {
          for (let y = 0; y < height; y++) {
            const found = pixels[y * cells.length + x];
            if (y === 0 || y === height - 1 || state === State.notRecorded) expect(found).toBe(0);
            else if (state === State.finite)
              expect(found).toBe(rampColour(COLOURS.ramp, position(Math.fround(value), DOMAIN)));
            else if (state === State.none)
              expect([COLOURS.states[State.none], COLOURS.noneHatch]).toContain(found);
            else expect([COLOURS.states[state], COLOURS.zeroEdge]).toContain(found);
          }
        });
      }),
    );
  });

  it("hatches None, so that it is told apart without colours", () => {
    const pixels = painted(Array(20).fill(State.none), Array(20).fill(Number.NaN));
    expect(new Set(pixels.slice(20, -20))).toEqual(new Set([COLOURS.states[State.none], COLOURS.noneHatch]));
  });

  it("marks values beyond the ends of the ramp, above at the top and below at the foot", () => {
    const high = painted([State.finite], [1e9]);
    const low = painted([State.finite], [1e-12]);
    expect([high[1], high[10]]).toEqual([COLOURS.aboveHigh, COLOURS.ramp[255]]);
    expect([low[1], low[10]]).toEqual([COLOURS.ramp[0], COLOURS.belowLow]);
  });
});

describe("badStretches", () => {
  it("are the runs of one bad state that have room for a sign", () => {
    const states = Uint8Array.of(1, 5, 5, 5, 3, 1, 4, 4, 4);
    expect(badStretches(states, 3)).toEqual([
      { state: State.nan, from: 1, to: 4 },
      { state: State.inf, from: 6, to: 9 },
    ]);
  });
});

describe("palettes", () => {
  it("are those that were measured for colour-blind safety", () => {
    expect(LIGHT.ramp).toEqual(["#bfe5f5", "#5ea7d4", "#2466a2", "#0f2a5f"]);
    expect(DARK.ramp).toEqual(["#273c64", "#3375ac", "#59b5df", "#aff1ff"]);
    expect([LIGHT.zero, LIGHT.none, LIGHT.inf, LIGHT.nan]).toEqual([
      "#000000",
      "#8d8d8d",
      "#ff9100",
      "#d50000",
    ]);
    expect([DARK.zero, DARK.none, DARK.inf, DARK.nan]).toEqual(["#000000", "#8a8a8a", "#ffa000", "#ff1744"]);
  });

  it("begin and end their ramps at the given colours, as canvases hold them", () => {
    expect(COLOURS.ramp[0].toString(16)).toBe("fff5e5bf");
    expect(COLOURS.ramp[255].toString(16)).toBe("ff5f2a0f");
  });
});

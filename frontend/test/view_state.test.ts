import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOurs, readHash, writeHash } from "../src/host/link";
import { METRICS } from "../src/lib/scale";
import { DEFAULT_VIEW, fromParameters, toParameters, type ViewState } from "../src/lib/view_state";

const anySteps = fc.option(
  fc.tuple(fc.nat(1e9), fc.nat(1e6)).map(([first, width]) => ({ first, last: first + width })),
  { nil: null },
);
const anyTexts = fc.array(fc.string(), { maxLength: 4 });

const anyView: fc.Arbitrary<ViewState> = fc.record({
  run: fc.option(fc.string({ minLength: 1 }), { nil: null }),
  beside: fc.array(fc.string(), { maxLength: 3 }),
  steps: anySteps,
  metric: fc.constantFrom(...METRICS),
  keep: fc.constantFrom("worst", "smallest"),
  domain: fc.constantFrom("fixed", "fit"),
  replica: fc.option(fc.nat(64), { nil: null }),
  sort: fc.constantFrom("worst", "model", "name"),
  text: fc.string(),
  states: anyTexts,
  toggled: anyTexts,
  picked: fc.option(anyTexts, { nil: null }),
  scale: fc.constantFrom("log", "linear"),
  extras: fc.constantFrom([], ["loss"], ["loss", "global_norm"]),
  against: fc.boolean(),
  details: fc.option(fc.string({ minLength: 1 }), { nil: null }),
  pinned: fc.option(fc.nat(1e9), { nil: null }),
  box: anySteps,
  boxRows: fc.option(fc.array(fc.string(), { minLength: 2, maxLength: 2 }), { nil: null }),
  table: fc.boolean(),
}) as fc.Arbitrary<ViewState>;

describe("deep links", () => {
  it("restore the whole view, whatever runs and variables are called", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const hash = writeHash("#gradhealth&tagFilter=x", toParameters(view));
        expect(fromParameters(readHash(hash))).toEqual(view);
        expect(hash.startsWith("#gradhealth&tagFilter=x")).toBe(true);
      }),
    );
  });

  it("say nothing of what is as always", () => {
    expect(toParameters(DEFAULT_VIEW)).toEqual({});
    expect(writeHash("", {})).toBe("#gradhealth");
  });

  it("from another version or a typing error leave what they spoil at its default", () => {
    const view = fromParameters({
      metric: "mood",
      steps: "9-3",
      picked: "{",
      beside: "[1,2]",
      sort: "",
      pinned: "-4",
      keep: "x",
    });
    expect(view).toEqual(DEFAULT_VIEW);
  });

  it("are ours to write only while our tab is shown", () => {
    expect([isOurs("#gradhealth&p.gradhealth.run=a"), isOurs("#scalars"), isOurs("")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it("survive a stray per cent sign", () => {
    expect(readHash("#gradhealth&p.gradhealth.text=100%")).toEqual({ text: "100%" });
  });
});

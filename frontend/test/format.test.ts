import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ago,
  count,
  cutName,
  fileName,
  plural,
  quantity,
  runLabel,
  shape,
  share,
  shortCount,
  stepRange,
  steps,
  tick,
} from "../src/lib/format";

describe("numbers", () => {
  it("have three digits, and powers of ten where they are far from one", () => {
    expect([0.1234, 12.345, 1830, 5e6, 0.00012, -2.5].map(quantity)).toEqual([
      "0.123",
      "12.3",
      "1830",
      "5.00e6",
      "1.20e−4",
      "−2.5",
    ]);
    expect([null, undefined, Number.NaN, Infinity, 0].map(quantity)).toEqual(["–", "–", "–", "∞", "0"]);
  });

  it("on axes are powers of ten far from one, and plain near it", () => {
    expect([1e-6, 1e5, 1e-3, 1000, 0.2].map(tick)).toEqual(["1e−6", "1e5", "0.001", "1000", "0.2"]);
  });

  it("as shares never claim none or all where it is not so", () => {
    expect([0, 1e-9, 0.1234, 0.9999, 1].map(share)).toEqual([
      "0 %",
      "< 0.1 %",
      "12.3 %",
      "> 99.9 %",
      "100 %",
    ]);
  });

  it("of steps are grouped, and short on axes", () => {
    expect([count(48312), plural(1, "variable"), plural(2, "variable")]).toEqual([
      "48,312",
      "1 variable",
      "2 variables",
    ]);
    expect([steps(5, 5), steps(5, 1000), stepRange(3, 3)]).toEqual(["step 5", "steps 5–1,000", "3"]);
    expect([1500, 20_000, 2.5e6].map(shortCount)).toEqual(["1,500", "20k", "2.5M"]);
  });

  it("of seconds become a time ago, never one in the future", () => {
    expect([ago(100, 112), ago(0, 7200), ago(200, 100)]).toEqual(["12 s ago", "2 h ago", "0 s ago"]);
  });
});

describe("names", () => {
  const letters = (text: string) => text.length;

  it("lose nothing when they are cut, and what is seen of them fits", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 3, max: 60 }), (name, room) => {
        const { head, hidden, tail } = cutName(name, room, letters);
        expect(head + hidden + tail).toBe(name);
        expect(head.length + tail.length + (hidden === "" ? 0 : 1)).toBeLessThanOrEqual(room);
      }),
    );
  });

  it("keep as much of their end as fits and the first letters, and all of it where all fits", () => {
    const seen = (name: string, room: number) => {
      const { head, hidden, tail } = cutName(name, room, letters);
      return hidden === "" ? tail : `${head}…${tail}`;
    };
    expect(seen("encoder/gru/kernel", 18)).toBe("encoder/gru/kernel");
    expect(seen("encoder/gru/kernel", 15)).toBe("en…/gru/kernel");
    expect(seen("decoder/dense/kernel", 17)).toBe("de…/dense/kernel");
    expect(seen("transformer/block10/q/kernel", 19)).toBe("tr…block10/q/kernel");
    expect(seen("encoder/gru/kernel", 9)).toBe("…/kernel");
    expect(seen("x".repeat(300), 15)).toHaveLength(15);
  });

  it("of runs leave out our own folder", () => {
    expect([runLabel("vae/gradhealth"), runLabel("gradhealth"), runLabel("plain")]).toEqual([
      "vae",
      "(log directory)",
      "plain",
    ]);
  });

  it("of files are the last part, on any machine", () => {
    expect([fileName("/home/a/train.py"), fileName("C:\\a\\train.py"), shape([3]), shape([])]).toEqual([
      "train.py",
      "train.py",
      "(3,)",
      "()",
    ]);
  });
});

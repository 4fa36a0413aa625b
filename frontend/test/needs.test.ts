import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Client } from "../src/api/client";
import type { RunAnswer, RunSummary } from "../src/api/types";
import { Viewport } from "../src/lib/viewport";
import { needsOf, tileRange } from "../src/store/needs";
import { chosenRun, mostAlarming, pickedVariables } from "../src/store/selectors";
import { Slots } from "../src/store/slots";
import { type AppState, INITIAL } from "../src/store/state";
import { group, runAnswerOf } from "./worlds";

const client = new Client("http://host/", () => Promise.reject(new TypeError("not in this test")));

function summary(run: string, given: Partial<RunSummary> = {}): RunSummary {
  return {
    run,
    has_data: true,
    verdict: null,
    sentence: null,
    first_step: 0,
    last_step: 9,
    wall_time: 0,
    newer_format: null,
    ...given,
  };
}

/** Slots that hold given answers. */
async function holding(runs: readonly RunSummary[], answers: readonly RunAnswer[] = []): Promise<Slots> {
  const slots = new Slots();
  slots.sync([
    { id: "runs", key: "0", load: async () => ({ version: "1", runs }) },
    ...answers.map((answer) => ({ id: `run|${answer.run}`, key: "0", load: async () => answer })),
  ]);
  await new Promise((done) => setTimeout(done, 1));
  return slots;
}

function state(given: Partial<AppState> = {}, view: Partial<AppState["view"]> = {}): AppState {
  return { ...INITIAL, plotWidth: 1000, ...given, view: { ...INITIAL.view, ...view } };
}

describe("tileRange", () => {
  it("covers the view, stays inside the run, and is at least as fine as the pixels", () => {
    const anything = fc.tuple(
      fc.integer({ min: 0, max: 1e6 }),
      fc.integer({ min: 1, max: 1e7 }),
      fc.nat(1e7),
      fc.nat(1e7),
      fc.integer({ min: 64, max: 2000 }),
    );
    fc.assert(
      fc.property(anything, ([begin, length, offset, width, pixels]) => {
        const extent = { first: begin, last: begin + length };
        const view = Viewport.of({ first: begin + offset, last: begin + offset + width }).clamped(extent);
        const { range, columns } = tileRange(view, extent, pixels);
        expect(range.first).toBeLessThanOrEqual(view.start);
        expect(range.last + 1).toBeGreaterThanOrEqual(view.end);
        expect(range.first).toBeGreaterThanOrEqual(extent.first);
        expect(range.last).toBeLessThanOrEqual(extent.last);
        const perStep = columns / (range.last + 1 - range.first);
        expect(columns === 4096 || perStep >= pixels / view.width - 1e-9).toBe(true);
      }),
    );
  });

  it("stays the same for small movements, so that they cost no request", () => {
    const extent = { first: 0, last: 999_999 };
    const ranges = new Set<number>();
    for (let i = 0; i < 20; i++)
      ranges.add(
        tileRange(Viewport.of({ first: 100_000 + i * 50, last: 110_000 + i * 50 }), extent, 1000).range.first,
      );
    expect(ranges.size).toBeLessThanOrEqual(2);
  });
});

describe("needsOf", () => {
  const answer = runAnswerOf([group("adam", [{ state: "nan" }, {}]), group("sgd", [{}])]);
  const ids = (needs: readonly { id: string }[]) => needs.map((need) => need.id);

  it("asks for the list of runs first, then for the run, then for what is drawn of it", async () => {
    expect(ids(needsOf(state(), new Slots(), client))).toEqual(["runs"]);
    const knowsRuns = await holding([summary("a/gradhealth")]);
    expect(ids(needsOf(state(), knowsRuns, client))).toEqual(["runs", "run|a/gradhealth"]);
    const knowsRun = await holding([summary("a/gradhealth")], [answer]);
    expect(ids(needsOf(state(), knowsRun, client))).toEqual([
      "runs",
      "run|a/gradhealth",
      "whole|a/gradhealth|adam",
      "lines|a/gradhealth|adam",
      "whole|a/gradhealth|sgd",
      "lines|a/gradhealth|sgd",
    ]);
  });

  it("draws nothing of a run without steps, or while the page has no width", async () => {
    const begun = { ...answer, first_step: null, last_step: null };
    expect(ids(needsOf(state(), await holding([summary("a/gradhealth")], [begun]), client))).toEqual([
      "runs",
      "run|a/gradhealth",
    ]);
    const slots = await holding([summary("a/gradhealth")], [answer]);
    expect(ids(needsOf(state({ plotWidth: 0 }), slots, client))).toEqual(["runs", "run|a/gradhealth"]);
  });

  it("fetches finer when zoomed, the details of a variable and the ranking of a box when asked", async () => {
    const slots = await holding([summary("a/gradhealth")], [answer]);
    const found = ids(
      needsOf(
        state(
          {},
          { steps: { first: 10, last: 20 }, details: "v|adam|1", box: { first: 1, last: 2 }, table: true },
        ),
        slots,
        client,
      ),
    );
    for (const id of [
      "part|a/gradhealth|adam",
      "table|a/gradhealth|sgd",
      "variable",
      "rank|adam",
      "rank|sgd",
    ])
      expect(found).toContain(id);
  });

  it("fetches again only when the run has changed", async () => {
    const keys = async (revision: string, refresh: number, given: Partial<RunSummary> = {}) => {
      const slots = await holding([summary("a/gradhealth", given)], [{ ...answer, revision }]);
      return new Map(needsOf(state({ refresh }), slots, client).map((need) => [need.id, need.key]));
    };
    const [before, looked] = [await keys("r1", 0), await keys("r1", 1)];
    for (const id of ["run|a/gradhealth", "whole|a/gradhealth|adam"])
      expect(looked.get(id)).toBe(before.get(id));
    expect(looked.get("runs")).not.toBe(before.get("runs"));
    for (const change of [{ wall_time: 1 }, { last_step: 10 }])
      expect((await keys("r1", 1, change)).get("run|a/gradhealth")).not.toBe(before.get("run|a/gradhealth"));
    expect((await keys("r2", 1)).get("whole|a/gradhealth|adam")).not.toBe(
      before.get("whole|a/gradhealth|adam"),
    );
  });

  it("asks at each refresh for a run that is not listed or could not be had", async () => {
    const failing = await holding([summary("a/gradhealth")]);
    const need = needsOf(state(), failing, client).find(({ id }) => id === "run|a/gradhealth");
    failing.sync([
      { id: "runs", key: "0", load: async () => ({}) },
      { id: "run|a/gradhealth", key: need?.key ?? "", load: () => Promise.reject(new Error("once")) },
    ]);
    await new Promise((done) => setTimeout(done, 1));
    for (const slots of [failing, await holding([])]) {
      const key = (refresh: number) =>
        needsOf(state({ refresh }, { run: "a/gradhealth" }), slots, client).find(
          ({ id }) => id === "run|a/gradhealth",
        )?.key;
      expect(key(1)).not.toBe(key(0));
    }
  });
});

describe("the run on show", () => {
  it("is the most alarming, and of those the newest", () => {
    const runs = [
      summary("healthy", { verdict: "healthy", wall_time: 9 }),
      summary("old", { verdict: "unhealthy", wall_time: 1 }),
      summary("new", { verdict: "unhealthy", wall_time: 2 }),
      summary("plain", { has_data: false, wall_time: 99 }),
    ];
    expect(mostAlarming(runs)?.run).toBe("new");
    expect(mostAlarming([summary("plain", { has_data: false })])).toBeNull();
  });

  it("stays when another becomes worse, and goes when it is deleted", async () => {
    const worse = [summary("a"), summary("b", { verdict: "unhealthy" })];
    expect(chosenRun(state({ began: "a" }), await holding(worse))).toBe("a");
    expect(chosenRun(state({ began: "a" }), await holding(worse.slice(1)))).toBe("b");
    expect(chosenRun(state({ began: "a" }, { run: "c" }), await holding(worse))).toBe("c");
  });
});

describe("the lines on show", () => {
  it("are the most ill, with one healthy variable to compare, or those that the user picked", () => {
    const ill = runAnswerOf([group("adam", [{}, { state: "none" }, { state: "nan" }, { shape: [3] }])]);
    expect(pickedVariables(INITIAL.view, ill)).toEqual(["v|adam|2", "v|adam|1", "v|adam|0"]);
    expect(pickedVariables({ ...INITIAL.view, picked: ["v|adam|3", "v|gone|0"] }, ill)).toEqual(["v|adam|3"]);
    const scalars = runAnswerOf([group("adam", [{ shape: [] }, { shape: [3] }])]);
    expect(pickedVariables(INITIAL.view, scalars)).toEqual(["v|adam|0", "v|adam|1"]);
    expect(pickedVariables({ ...INITIAL.view, picked: [] }, ill)).toEqual([]);
  });
});

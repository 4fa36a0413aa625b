import { describe, expect, it } from "vitest";
import { Client } from "../src/api/client";
import type { RunSummary } from "../src/api/types";
import { Slots } from "../src/store/slots";
import { type AppState, INITIAL } from "../src/store/state";
import { Store } from "../src/store/store";
import { Survey } from "../src/store/survey";
import { runAnswerOf } from "./worlds";

function summary(run: string, wall_time: number, given: Partial<RunSummary> = {}): RunSummary {
  const unknown = { verdict: null, sentence: null, first_step: null, last_step: 9, newer_format: null };
  return { run, has_data: true, wall_time, ...unknown, ...given };
}

const settled = () => new Promise((done) => setTimeout(done, 5));

/** A survey over runs that can be exchanged, by a clock that can be moved. */
function world(runs: RunSummary[]) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const client = new Client("http://host/", async (address) => {
    const run = new URL(String(address)).searchParams.get("run") ?? "";
    asked.push(run);
    return Response.json(runAnswerOf([], { run, verdict: "watch", sentence: `Watch: ${run}.` }));
  });
  const store = new Store<AppState>(INITIAL);
  const slots = new Slots();
  const show = async (now: RunSummary[]) => {
    slots.sync([{ id: "runs", key: JSON.stringify(now), load: async () => ({ version: "1", runs: now }) }]);
    await settled();
  };
  const survey = new Survey(store, slots, client, () => clock.now);
  return { asked, clock, store, show, survey, runs };
}

describe("the survey", () => {
  it("asks for what nobody knows, one after the other, the newest first, and for nothing twice", async () => {
    const { asked, store, show, survey, runs } = world([
      summary("old", 1),
      summary("new", 3),
      summary("known", 4, { verdict: "healthy" }),
      summary("foreign", 5, { has_data: false }),
    ]);
    await show(runs);
    await survey.goOn();
    await settled();
    await survey.goOn();
    expect(asked).toEqual(["new", "old"]);
    expect(store.get().verdicts.get("old")).toEqual({ verdict: "watch", sentence: "Watch: old." });
  });

  it("judges a run that is still written anew, but not more than once a minute", async () => {
    const { asked, clock, show, survey } = world([]);
    await show([summary("growing", 1)]);
    await survey.goOn();
    await show([summary("growing", 2)]);
    clock.now = 30_000;
    await survey.goOn();
    expect(asked).toEqual(["growing"]);
    clock.now = 61_000;
    await survey.goOn();
    expect(asked).toEqual(["growing", "growing"]);
    clock.now = 200_000;
    await survey.goOn();
    expect(asked).toHaveLength(2);
  });

  it("leaves the server alone where nobody looks, and where there are hundreds of runs", async () => {
    const { asked, store, show, survey } = world([]);
    await show(Array.from({ length: 300 }, (_, i) => summary(`run${i}`, i)));
    store.set({ seen: false });
    await survey.goOn();
    expect(asked).toEqual([]);
    store.set({ seen: true });
    await survey.goOn();
    for (let i = 0; i < 30; i++) await settled();
    expect(asked).toHaveLength(40);
  });
});

import { describe, expect, it } from "vitest";
import type { LinesAnswer } from "../src/api/types";
import { State } from "../src/lib/states";
import { bandOf, variableCurves } from "../src/store/curves";
import { Slots } from "../src/store/slots";
import { group, runAnswerOf } from "./worlds";

const answer = runAnswerOf([group("adam", [{}])]);
const values = [0.1, null, null, 0.3];
const lines: LinesAnswer = {
  first: [0, 1, 2, 3],
  last: [0, 1, 2, 3],
  revision: "r1",
  lines: [{ index: 0, min: values, mean: values, max: values, state: [1, 1, State.nan, 1] }],
  band: { p5: values, p50: values, p95: values },
  loss: [],
  loss_max: [],
  learning_rate: [],
  global_norm: [],
  loss_scale: [],
};

async function curves(metric: "update_ratio" | "norm_max") {
  const slots = new Slots();
  slots.sync([{ id: `lines|${answer.run}|adam`, key: "", load: async () => lines }]);
  await new Promise((done) => setTimeout(done, 1));
  const choice = { main: answer, answer, picked: ["v|adam|0"], colours: new Map(), metric };
  return { curve: variableCurves(slots, choice)[0], band: bandOf(slots, answer, metric) };
}

describe("a metric that only some steps are measured for", () => {
  it("goes from measurement to measurement, but not over a step without a gradient", async () => {
    const { curve, band } = await curves("update_ratio");
    expect([...curve.x]).toEqual([0.5, 2.5, 3.5]);
    expect([...curve.y]).toEqual([0.1, null, 0.3]);
    expect([...(band?.x ?? [])]).toEqual([0.5, 3.5]);
  });

  it("leaves the gaps of every other", async () => {
    const { curve, band } = await curves("norm_max");
    expect([...curve.x]).toEqual([0.5, 1.5, 2.5, 3.5]);
    expect(band?.x).toHaveLength(4);
  });
});

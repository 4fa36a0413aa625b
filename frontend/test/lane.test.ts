import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { laneMarks } from "../src/lib/lane";
import { Viewport } from "../src/lib/viewport";

const anyIncident = fc.record({
  kind: fc.constantFrom("nan", "none", "zero", "spiking"),
  first_step: fc.integer({ min: 0, max: 5000 }),
  length: fc.integer({ min: 0, max: 800 }),
});

describe("laneMarks", () => {
  it("has every incident in view in exactly one mark, and none out of view", () => {
    fc.assert(
      fc.property(
        fc.array(anyIncident, { maxLength: 40 }),
        fc.integer({ min: 0, max: 5000 }),
        fc.integer({ min: 1, max: 5000 }),
        (given, first, width) => {
          const incidents = given.map(({ kind, first_step, length }, id) => ({
            id,
            kind,
            first_step,
            last_step: first_step + length,
          }));
          const view = Viewport.of({ first, last: first + width - 1 });
          const marks = laneMarks(incidents, view, 600, 18);
          const expected = incidents
            .filter((i) => i.last_step >= first && i.first_step < first + width)
            .map((i) => i.id);
          expect(marks.flatMap((mark) => mark.ids).sort((a, b) => a - b)).toEqual(expected);
          for (let i = 1; i < marks.length; i++)
            expect(marks[i].left - marks[i - 1].left).toBeGreaterThanOrEqual(18);
        },
      ),
    );
  });

  it("marks a step that raised at the end of those that were recorded", () => {
    const raised = { id: 7, kind: "error", first_step: 100, last_step: 100 };
    const view = Viewport.of({ first: 0, last: 99 });
    expect(laneMarks([raised], view, 600, 18)).toEqual([{ left: 600, right: 600, kind: "error", ids: [7] }]);
    expect(laneMarks([{ ...raised, kind: "nan" }], view, 600, 18)).toEqual([]);
    expect(laneMarks([raised], Viewport.of({ first: 0, last: 50 }), 600, 18)).toEqual([]);
  });

  it("shows the most severe kind of those that share a mark", () => {
    const at = (id: number, kind: string, first_step: number) => ({
      id,
      kind,
      first_step,
      last_step: first_step,
    });
    const marks = laneMarks(
      [at(0, "zero", 10), at(1, "nan", 11)],
      Viewport.of({ first: 0, last: 999 }),
      500,
      18,
    );
    expect(marks).toHaveLength(1);
    expect([marks[0].kind, marks[0].ids]).toEqual(["nan", [1, 0]]);
  });
});

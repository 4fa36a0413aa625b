import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Viewport } from "../src/lib/viewport";

const anyExtent = fc
  .tuple(fc.integer({ min: 0, max: 1e7 }), fc.integer({ min: 0, max: 1e7 }))
  .map(([first, width]) => ({ first, last: first + width }));

const anyViewIn = anyExtent.chain((extent) =>
  fc
    .tuple(
      fc.integer({ min: extent.first, max: extent.last }),
      fc.integer({ min: 0, max: extent.last - extent.first }),
    )
    .map(([first, width]) => ({ extent, view: Viewport.of({ first, last: first + width }).clamped(extent) })),
);

describe("Viewport", () => {
  it("covers each step from its own number to the next", () => {
    const view = Viewport.of({ first: 10, last: 19 });
    expect([view.start, view.end, view.width]).toEqual([10, 20, 10]);
    expect(view.range).toEqual({ first: 10, last: 19 });
  });

  it("maps pixels to positions and back", () => {
    fc.assert(
      fc.property(
        anyViewIn,
        fc.integer({ min: 1, max: 4000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        ({ view }, pixels, t) => {
          const x = t * pixels;
          expect(view.x(view.position(x, pixels), pixels)).toBeCloseTo(x, 3);
        },
      ),
    );
  });

  it("stays inside the run after any zooms and pans", () => {
    const anyMove = fc.oneof(
      fc.record({
        zoom: fc.double({ min: 0.01, max: 20, noNaN: true }),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      fc.record({ pan: fc.double({ min: -3, max: 3, noNaN: true }) }),
    );
    fc.assert(
      fc.property(anyViewIn, fc.array(anyMove, { maxLength: 12 }), ({ view, extent }, moves) => {
        let now = view;
        for (const move of moves) {
          now =
            "pan" in move
              ? now.panned(move.pan, extent)
              : now.zoomed(move.zoom, now.position(move.at * 100, 100), extent);
          expect(now.start).toBeGreaterThanOrEqual(extent.first);
          expect(now.end).toBeLessThanOrEqual(extent.last + 1 + 1e-6);
          expect(now.width).toBeGreaterThanOrEqual(
            Math.min(4, view.width, extent.last + 1 - extent.first) - 1e-6,
          );
        }
      }),
    );
  });

  it("keeps the anchor where it is while it zooms", () => {
    const extent = { first: 0, last: 9999 };
    const view = Viewport.of({ first: 2000, last: 5999 });
    const zoomed = view.zoomed(0.5, 3000, extent);
    expect(zoomed.x(3000, 800)).toBeCloseTo(view.x(3000, 800), 6);
    expect(zoomed.width).toBe(2000);
  });

  it("zooming in and out again comes back", () => {
    const extent = { first: 0, last: 99_999 };
    const view = Viewport.of({ first: 40_000, last: 49_999 });
    const back = view.zoomed(0.7, 45_000, extent).zoomed(1 / 0.7, 45_000, extent);
    expect(back.start).toBeCloseTo(view.start, 6);
    expect(back.end).toBeCloseTo(view.end, 6);
  });

  it("brings a step into sight, and does not move for one that is", () => {
    fc.assert(
      fc.property(anyViewIn, fc.double({ min: 0, max: 1, noNaN: true }), ({ view, extent }, t) => {
        const step = Math.floor(extent.first + t * (extent.last - extent.first));
        const moved = view.revealing(step, extent);
        expect(moved.start).toBeLessThanOrEqual(step + 1e-6);
        expect(moved.end).toBeGreaterThanOrEqual(step + 1 - 1e-6);
        if (step >= view.start && step + 1 <= view.end) expect(moved).toBe(view);
      }),
    );
  });
});

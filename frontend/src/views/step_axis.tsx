import { count, shortCount } from "../lib/format";
import { stepTicks } from "../lib/scale";
import type { Viewport } from "../lib/viewport";
import { useCursor } from "./context";

const TICK_ROOM = 90;

export function stepAxisTicks(view: Viewport, width: number): number[] {
  return stepTicks(view.start, view.end, Math.max(1, Math.floor(width / TICK_ROOM)));
}

/** The steps under the plots, and where the cursor stands. */
export function StepAxis({ view, width }: { view: Viewport; width: number }) {
  const step = useCursor((cursor) => cursor.step);
  const shown = step !== null && step >= view.start && step < view.end ? view.x(step + 0.5, width) : null;
  return (
    <div class="axis" style={{ width: `${width}px` }} aria-hidden="true">
      {stepAxisTicks(view, width).map((tick) => {
        const x = view.x(tick + 0.5, width);
        if (x < 0 || x > width - 4 || (shown !== null && Math.abs(x - shown) < 44)) return null;
        return (
          <span
            key={tick}
            class={x < 20 ? "tick tick-first" : x > width - 30 ? "tick tick-last" : "tick"}
            style={{ left: `${x}px` }}
          >
            {shortCount(tick)}
          </span>
        );
      })}
      {shown !== null && step !== null && (
        <span class="tick-cursor" style={{ left: `${Math.min(width - 30, Math.max(30, shown))}px` }}>
          {count(step)}
        </span>
      )}
    </div>
  );
}

import { useRef } from "preact/hooks";
import type { Incident } from "../api/types";
import { count } from "../lib/format";
import { type StepRange, Viewport } from "../lib/viewport";
import { useApp } from "./context";

/** The whole run as a strip, with the part in view as a handle to drag. */
export function Navigator({
  extent,
  view,
  width,
  incidents,
}: {
  extent: StepRange;
  view: Viewport;
  width: number;
  incidents: readonly Incident[];
}) {
  const { actions } = useApp();
  const grabbed = useRef<{ x: number; view: Viewport } | null>(null);
  const full = Viewport.of(extent);
  const left = full.x(view.start, width);
  const handle = Math.max(6, full.x(view.end, width) - left);
  const ticks = [
    ...new Set(incidents.map((incident) => Math.round(full.x(incident.first_step + 0.5, width)))),
  ];
  const move = (event: PointerEvent) => {
    const from = grabbed.current;
    if (from === null) return;
    actions.look(from.view.moved(((event.clientX - from.x) / width) * full.width, extent));
  };
  return (
    <div
      class="navigator"
      role="scrollbar"
      aria-label="Steps in view"
      aria-controls="gradhealth-page"
      aria-orientation="horizontal"
      aria-valuemin={extent.first}
      aria-valuemax={extent.last}
      aria-valuenow={view.range.first}
      aria-valuetext={`steps ${count(view.range.first)} to ${count(view.range.last)}`}
      style={{ width: `${width}px` }}
      onPointerDown={(event) => {
        const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
        const inside = x >= left && x <= left + handle;
        const start = inside
          ? view
          : view.moved(full.position(x, width) - (view.start + view.end) / 2, extent);
        if (!inside) actions.look(start);
        event.currentTarget.setPointerCapture(event.pointerId);
        grabbed.current = { x: event.clientX, view: start };
      }}
      onPointerMove={move}
      onPointerUp={() => {
        grabbed.current = null;
      }}
    >
      {ticks.map((x) => (
        <span key={x} class="navigator-tick" style={{ left: `${x}px` }} />
      ))}
      <span class="navigator-handle" style={{ left: `${left}px`, width: `${handle}px` }} />
    </div>
  );
}

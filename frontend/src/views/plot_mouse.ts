/** The mouse over the cells: pointing, boxes, panning, zooming. */

import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Row } from "../lib/rows";
import type { Viewport } from "../lib/viewport";
import { useApp } from "./context";

/** A press that moves less than this is a click. */
const CLICK = 4;
const WHEEL_ZOOM = 0.004;

interface Drag {
  readonly x: number;
  readonly y: number;
  readonly view: Viewport;
  readonly pans: boolean;
}

interface Corners {
  readonly x0: number;
  readonly x1: number;
  /** Pixels from the first row, whatever is scrolled. */
  readonly y0: number;
  readonly y1: number;
}

interface PlotMouse {
  handlers(run: string): Record<string, unknown>;
  /** Where to draw the box that is being dragged. */
  readonly box: ((scrolled: number) => Record<string, string>) | null;
}

export function usePlotMouse(plot: {
  readonly rows: readonly Row[];
  readonly view: Viewport;
  readonly plotWidth: number;
  readonly rowHeight: number;
  readonly scroller: RefObject<HTMLElement | null>;
}): PlotMouse {
  const { session, actions } = useApp();
  const drag = useRef<Drag | null>(null);
  const [corners, setCorners] = useState<Corners | null>(null);
  const { view, plotWidth, rows, rowHeight } = plot;

  const place = (event: MouseEvent) => {
    const bounds = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const scrolled = plot.scroller.current?.scrollTop ?? 0;
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top + scrolled };
  };
  const point = (run: string, x: number, y: number) => {
    const row = rows[Math.floor(y / rowHeight)];
    session.cursor.set({ step: view.step(x, plotWidth), row: row?.key ?? null, run });
  };
  const finish = (event: PointerEvent) => {
    const from = drag.current;
    drag.current = null;
    setCorners(null);
    if (from === null || from.pans || rows.length === 0) return;
    const to = place(event);
    if (Math.abs(to.x - from.x) < CLICK && Math.abs(to.y - from.y) < CLICK) {
      const row = rows[Math.floor(to.y / rowHeight)];
      if (row !== undefined) actions.activate(row);
      return;
    }
    const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
    const first = Math.max(view.range.first, view.step(Math.max(0, left), plotWidth));
    const last = Math.min(view.range.last, view.step(Math.min(plotWidth, right), plotWidth));
    const rowAt = (y: number) => rows[Math.min(rows.length - 1, Math.max(0, Math.floor(y / rowHeight)))];
    const boxRows = [rowAt(Math.min(from.y, to.y)).key, rowAt(Math.max(from.y, to.y)).key];
    session.show({ box: { first, last: Math.max(first, last) }, boxRows });
  };

  return {
    handlers: (run) => ({
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        drag.current = { ...place(event), view, pans: event.shiftKey || event.altKey };
      },
      onPointerMove: (event: PointerEvent) => {
        const { x, y } = place(event);
        point(run, x, y);
        const from = drag.current;
        if (from === null) return;
        const extent = actions.extent();
        if (from.pans) {
          if (extent !== null) actions.look(from.view.panned((from.x - x) / plotWidth, extent));
        } else if (Math.abs(x - from.x) >= CLICK || Math.abs(y - from.y) >= CLICK) {
          setCorners({
            x0: Math.min(from.x, x),
            x1: Math.max(from.x, x),
            y0: Math.min(from.y, y),
            y1: Math.max(from.y, y),
          });
        }
      },
      onPointerUp: finish,
      onPointerCancel: () => {
        drag.current = null;
        setCorners(null);
      },
      onPointerLeave: () => {
        if (drag.current === null) session.cursor.set({ run: null });
      },
      onDblClick: () => actions.showAll(),
      onWheel: (event: WheelEvent) => {
        const { x } = place(event);
        if (event.ctrlKey || event.metaKey) {
          event.preventDefault();
          actions.zoom(-event.deltaY * WHEEL_ZOOM, view.position(x, plotWidth));
        } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          event.preventDefault();
          actions.pan(event.deltaX / plotWidth);
        }
      },
    }),
    box:
      corners === null
        ? null
        : (scrolled) => ({
            left: `${corners.x0}px`,
            width: `${corners.x1 - corners.x0}px`,
            top: `${corners.y0 - scrolled}px`,
            height: `${corners.y1 - corners.y0}px`,
          }),
  };
}

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Chart, paintChart } from "./chart_paint";
import { useApp, useCursor } from "./context";

/** A drag shorter than this is no choice of steps. */
const LEAST_DRAG = 4;

export interface LinesChartProps extends Chart {
  readonly label: string;
}

/** Curves over the steps of the view. The y axis is written inside, so that all plots share their left edge. */
export function LinesChart(props: LinesChartProps) {
  const { session, actions } = useApp();
  const canvas = useRef<HTMLCanvasElement>(null);
  const from = useRef<number | null>(null);
  const [to, setTo] = useState<number | null>(null);
  const step = useCursor((cursor) => cursor.step);
  const { width, height, view } = props;
  const dot = window.devicePixelRatio || 1;
  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context == null || width <= 0) return;
    context.setTransform(dot, 0, 0, dot, 0, 0);
    paintChart(context, props, step);
  });
  const x = (event: PointerEvent) => {
    const left = event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left;
    return Math.min(width - 1, Math.max(0, left));
  };
  const finish = () => {
    if (from.current !== null && to !== null && Math.abs(to - from.current) >= LEAST_DRAG) {
      const first = view.step(Math.min(from.current, to), width);
      actions.showSteps({ first, last: Math.max(first, view.step(Math.max(from.current, to), width)) }, 0);
    }
    from.current = null;
    setTo(null);
  };
  return (
    <div
      class="chart"
      style={{ height: `${height}px` }}
      role="img"
      aria-label={props.label}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = x(event);
      }}
      onPointerMove={(event) => {
        session.cursor.set({ step: view.step(x(event), width), run: null });
        if (from.current !== null) setTo(x(event));
      }}
      onPointerUp={finish}
      onPointerCancel={finish}
      onDblClick={() => actions.showAll()}
    >
      <canvas
        ref={canvas}
        width={Math.round(width * dot)}
        height={Math.round(height * dot)}
        style={{ width: `${width}px`, height: `${height}px` }}
      />
      {from.current !== null && to !== null && (
        <div
          class="drag"
          style={{ left: `${Math.min(from.current, to)}px`, width: `${Math.abs(to - from.current)}px` }}
        />
      )}
    </div>
  );
}

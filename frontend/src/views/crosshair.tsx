import type { Viewport } from "../lib/viewport";
import { useAppState, useCursor } from "./context";

/** The line at the step that all plots share, and the step that is pinned. */
export function Crosshair({ view, width }: { view: Viewport; width: number }) {
  const step = useCursor((cursor) => cursor.step);
  const pinned = useAppState((state) => state.view.pinned);
  return (
    <>
      <Rule step={pinned} view={view} width={width} kind="crosshair pinned" />
      <Rule step={step} view={view} width={width} kind="crosshair" />
    </>
  );
}

function Rule({
  step,
  view,
  width,
  kind,
}: {
  step: number | null;
  view: Viewport;
  width: number;
  kind: string;
}) {
  if (step === null || step + 1 <= view.start || step >= view.end) return null;
  const x = Math.min(width - 1, Math.max(0, view.x(step + 0.5, width)));
  return <div class={kind} style={{ transform: `translateX(${x}px)` }} />;
}

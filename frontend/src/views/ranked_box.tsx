import type { Row } from "../lib/rows";
import type { Viewport } from "../lib/viewport";
import { useAppState } from "./context";

/** Where the box is whose variables are ranked, as long as they are. */
export function RankedBox(props: {
  rows: readonly Row[];
  view: Viewport;
  width: number;
  rowHeight: number;
  scrolled: number;
}) {
  const { rows, view, width, rowHeight, scrolled } = props;
  const { box, boxRows } = useAppState((state) => state.view);
  if (box === null) return null;
  const left = Math.max(-2, view.x(box.first, width));
  const right = Math.min(width + 2, view.x(box.last + 1, width));
  if (right <= left) return null;
  const ends = (boxRows ?? []).map((key) => rows.findIndex((row) => row.key === key));
  const all = ends.length < 2 || ends.some((index) => index < 0);
  const [from, to] = all ? [0, rows.length - 1] : [Math.min(...ends), Math.max(...ends)];
  return (
    <div
      class="box ranked"
      style={{
        left: `${left}px`,
        width: `${right - left}px`,
        top: `${from * rowHeight - scrolled}px`,
        height: `${(to + 1 - from) * rowHeight}px`,
      }}
    />
  );
}

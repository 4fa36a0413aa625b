import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Tile } from "../api/tile";
import type { RunAnswer } from "../api/types";
import {
  type Bins,
  binColumns,
  blankLine,
  clearLine,
  divideLine,
  foldRow,
  type Keep,
  type Line,
  widenBad,
} from "../lib/binning";
import { badStretches, paintLine } from "../lib/raster";
import type { Row } from "../lib/rows";
import type { Domain } from "../lib/scale";
import { STATE_HEALTH, State } from "../lib/states";
import type { Viewport } from "../lib/viewport";
import { endsOf, type Source, sourcesOf, tileWith } from "../store/reading";
import { SIGNS } from "../theme/glyphs";
import { paletteOf, pixelColours } from "../theme/palette";
import { useApp, useArrivals } from "./context";

/** A bad cell is never drawn narrower than this many pixels of the page. */
const LEAST_BAD = 3;
/** Size of a sign in a cell, and the room that it needs. */
const SIGN = 10;
const SIGN_ROOM = 15;

interface HeatPlotProps {
  readonly main: RunAnswer;
  readonly answer: RunAnswer;
  readonly rows: readonly Row[];
  readonly view: Viewport;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  /** Pixels scrolled away above. */
  readonly scrolled: number;
  readonly dark: boolean;
  readonly keep: Keep;
  readonly domain: Domain;
  /** Draw the values divided by the main run's. */
  readonly against: boolean;
}

/** The cells of one run, painted on a canvas. Decoration: the rows beside it say the same in words. */
export function HeatPlot(props: HeatPlotProps) {
  const { width, height } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { session } = useApp();
  const arrived = useArrivals();
  const dot = window.devicePixelRatio || 1;
  const sources = useMemo(
    () => props.rows.map((row) => sourcesOf(row, props.main, props.answer)),
    [props.rows, props.main, props.answer],
  );
  useLayoutEffect(() => {
    if (canvas.current === null || width <= 0 || height <= 0) return;
    // Half a step at either edge is drawn, too.
    const steps = { first: props.view.start, last: props.view.end - 1 };
    const find = (run: string) => (group: string, index: number) =>
      tileWith(session.slots, run, { group, index }, steps);
    const layers = [{ sources, find: find(props.answer.run) }];
    if (props.against) {
      layers.push({
        sources: props.rows.map((row) => sourcesOf(row, props.main, props.main)),
        find: find(props.main.run),
      });
    }
    paint(canvas.current, props, layers, dot);
  }, [...Object.values(props), sources, dot, arrived]);
  useRepaintOnPixelRatio();
  return (
    <canvas
      ref={canvas}
      class="heat-canvas"
      aria-hidden="true"
      width={Math.round(width * dot)}
      height={Math.round(height * dot)}
      style={{ width: `${width}px`, height: `${height}px` }}
    />
  );
}

/** What is read for the rows of one run. */
interface Layer {
  readonly sources: readonly (readonly Source[])[];
  readonly find: (group: string, index: number) => ReturnType<typeof tileWith>;
}

/** Paints the first layer; divided by the second, if there is one. */
function paint(canvas: HTMLCanvasElement, props: HeatPlotProps, layers: readonly Layer[], dot: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const colours = pixelColours(paletteOf(props.dark));
  const line = blankLine(canvas.width);
  const divisor = blankLine(canvas.width);
  const bins = new Map<Tile, Bins>();
  const signs: (() => void)[] = [];
  const binsOf = (tile: Tile): Bins => {
    let columns = bins.get(tile);
    if (columns === undefined) {
      columns = binColumns(tile, endsOf(tile), props.view, canvas.width);
      bins.set(tile, columns);
    }
    return columns;
  };
  const read = ({ sources, find }: Layer, row: number, into: Line) => {
    clearLine(into);
    for (const { group, indices } of sources[row]) {
      for (const index of indices) {
        const found = find(group, index);
        if (found !== null) foldRow(found.tile, found.row, binsOf(found.tile), props.keep, into);
      }
    }
  };
  const from = Math.floor(props.scrolled / props.rowHeight);
  const to = Math.min(props.rows.length, Math.ceil((props.scrolled + props.height) / props.rowHeight));
  for (let i = from; i < to; i++) {
    read(layers[0], i, line);
    if (layers.length > 1) {
      read(layers[1], i, divisor);
      divideLine(line, divisor);
    }
    widenBad(line, Math.round(LEAST_BAD * dot));
    const [top, bottom] = band(props.rows[i], i * props.rowHeight - props.scrolled, props.rowHeight);
    const strip = {
      pixels,
      stride: canvas.width,
      top: Math.max(0, Math.round(top * dot)),
      bottom: Math.min(canvas.height, Math.round(bottom * dot)),
    };
    paintLine(line, { colours, domain: props.domain, strip, dot });
    if (bottom - top >= SIGN_ROOM) {
      for (const { state, from: left, to: right } of badStretches(line.states, Math.round(SIGN_ROOM * dot))) {
        signs.push(() => paintSign(context, state, left, right, ((top + bottom) / 2) * dot, dot));
      }
    }
  }
  context.putImageData(image, 0, 0);
  for (const sign of signs) sign();
}

/** The state's own sign at the beginning of a stretch: what it is can be told without its colour. */
function paintSign(
  context: CanvasRenderingContext2D,
  state: number,
  left: number,
  right: number,
  middle: number,
  dot: number,
): void {
  const { path, stroke } = SIGNS[STATE_HEALTH[state]];
  const size = SIGN * dot;
  const x = Math.min(left + 3 * dot, (left + right - size) / 2);
  context.save();
  context.translate(x, middle - size / 2);
  context.scale(size / 16, size / 16);
  context.lineCap = context.lineJoin = "round";
  context.strokeStyle = context.fillStyle = state === State.inf ? "#000000" : "#ffffff";
  context.lineWidth = stroke || 1;
  const shape = new Path2D(path);
  if (stroke === 0) context.fill(shape);
  else context.stroke(shape);
  context.restore();
}

/** An unfolded row is only a thin summary: its children have the cells. */
function band(row: Row, top: number, height: number): readonly [top: number, bottom: number] {
  if (row.expanded === true) return [top + height / 2 - 2, top + height / 2 + 2];
  return [top + 1, top + height - 1];
}

/** Moving the window to a screen with other pixels must repaint. */
function useRepaintOnPixelRatio(): void {
  const { session } = useApp();
  useEffect(() => {
    const query = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    const repaint = () => session.slots.arrivals.set({ count: session.slots.arrivals.get().count + 1 });
    query.addEventListener("change", repaint);
    return () => query.removeEventListener("change", repaint);
  });
}

import { useEffect, useRef, useState } from "preact/hooks";
import { quantity, steps } from "../lib/format";
import type { Row } from "../lib/rows";
import { type Domain, FIXED_DOMAIN, METRIC_WORDS } from "../lib/scale";
import { STATE_WORDS } from "../lib/states";
import type { Viewport } from "../lib/viewport";
import { rowWindow } from "../store/drawn";
import { readCell } from "../store/reading";
import { useApp, useAppState, useArrivals, useCursor } from "./context";
import { Crosshair } from "./crosshair";
import { HeatPlot } from "./heat_plot";
import { usePlotMouse } from "./plot_mouse";
import type { PlotPlaces } from "./plot_row";
import { RankedBox } from "./ranked_box";
import { RowLabel, rowId } from "./row_labels";

interface HeatGridProps {
  readonly places: PlotPlaces;
  readonly rows: readonly Row[];
  readonly view: Viewport;
  readonly domain: Domain;
  readonly rowHeight: number;
  readonly height: number;
  readonly lineColours: ReadonlyMap<string, string>;
}

/** Pixels of the lines above and below. */
const BORDERS = 2;
/** Rows rendered beyond what is seen, so that quick scrolling shows no holes. */
const SPARE = 6;

/** Variables × steps: a treegrid of names, with the cells painted beside them, one plot for each run. */
export function HeatGrid(props: HeatGridProps) {
  const { rows, view, rowHeight, height } = props;
  const { answers, labelWidth, plotWidth, gap } = props.places;
  const { session } = useApp();
  const scroller = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const active = useCursor((cursor) => cursor.row);
  const step = useCursor((cursor) => cursor.step);
  const dark = useAppState((state) => state.dark);
  const { details, keep, metric, against } = useAppState((state) => state.view);
  useArrivals();
  const total = rows.length * rowHeight;
  const from = Math.max(0, Math.floor(scrolled / rowHeight) - SPARE);
  const to = Math.min(rows.length, Math.ceil((scrolled + height) / rowHeight) + SPARE);
  const pages = rowWindow(from, to);
  useEffect(() => session.store.set({ rowWindow: pages }), [pages.from, pages.to]);
  const activeIndex = rows.findIndex((row) => row.key === active);
  useEffect(() => {
    if (scroller.current !== null && scroller.current.scrollTop > Math.max(0, total - height)) setScrolled(0);
  }, [total, height]);
  useReveal(scroller.current, activeIndex, rowHeight, height);
  const mouse = usePlotMouse({ rows, view, plotWidth, rowHeight, scroller });

  const wordsOf = (row: Row): string => {
    const at = step ?? view.range.last;
    const cell = readCell(session.slots, answers[0].run, answers[0].run, row, at, keep);
    if (cell === null) return `nothing recorded at step ${at}`;
    return `${steps(cell.first, cell.last)}: ${STATE_WORDS[cell.state]}, ${METRIC_WORDS[metric]} ${quantity(cell.value)}`;
  };

  return (
    <div
      ref={scroller}
      class="heat-scroll"
      style={{ height: `${height + BORDERS}px` }}
      onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}
    >
      <div class="heat-body" style={{ height: `${Math.max(total, height)}px` }}>
        <div
          role="treegrid"
          class="rows"
          tabIndex={0}
          aria-label="Variables and their gradients, worst first"
          aria-rowcount={rows.length + 1}
          aria-colcount={4}
          aria-readonly="true"
          aria-activedescendant={
            activeIndex >= from && activeIndex < to && active !== null ? rowId(active) : undefined
          }
          style={{ width: `${labelWidth}px`, height: `${total}px` }}
        >
          <div role="row" aria-rowindex={1} class="sr-only">
            <span role="columnheader">Variable</span>
            <span role="columnheader">State</span>
            <span role="columnheader">Since</span>
            <span role="columnheader">At the step of the cursor</span>
          </div>
          {rows.slice(from, to).map((row, i) => (
            <RowLabel
              key={row.key}
              row={row}
              index={from + i}
              top={(from + i) * rowHeight}
              height={rowHeight}
              width={labelWidth}
              line={props.lineColours.get(row.key) ?? null}
              words={wordsOf(row)}
              opened={row.key === details}
            />
          ))}
        </div>
        <div class="plots" style={{ left: `${labelWidth}px`, height: `${height}px`, gap: `${gap}px` }}>
          {answers.map((answer) => (
            <div
              key={answer.run}
              class="plot"
              style={{ width: `${plotWidth}px`, height: `${height}px` }}
              {...mouse.handlers(answer.run)}
            >
              <HeatPlot
                main={answers[0]}
                answer={answer}
                rows={rows}
                view={view}
                width={plotWidth}
                height={Math.min(height, Math.max(total - scrolled, 0))}
                rowHeight={rowHeight}
                scrolled={scrolled}
                dark={dark}
                keep={keep}
                domain={against && answer !== answers[0] ? FIXED_DOMAIN.change : props.domain}
                against={against && answer !== answers[0]}
              />
              {activeIndex >= 0 && (
                <div
                  class="row-light"
                  style={{ top: `${activeIndex * rowHeight - scrolled}px`, height: `${rowHeight}px` }}
                />
              )}
              <Crosshair view={view} width={plotWidth} />
              <RankedBox
                rows={rows}
                view={view}
                width={plotWidth}
                rowHeight={rowHeight}
                scrolled={scrolled}
              />
              {mouse.box !== null && <div class="box" style={mouse.box(scrolled)} />}
            </div>
          ))}
        </div>
      </div>
      {rows.length === 0 && (
        <div class="nothing">
          <p>No variable matches the filter.</p>
          <button type="button" onClick={() => session.show({ text: "", states: [] })}>
            Clear the filter
          </button>
        </div>
      )}
    </div>
  );
}

/** Keeps the active row in sight when the keys move it. */
function useReveal(scroller: HTMLElement | null, index: number, rowHeight: number, height: number): void {
  useEffect(() => {
    if (scroller === null || index < 0 || scroller.matches(":hover")) return;
    const top = index * rowHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + height) scroller.scrollTop = top + rowHeight - height;
  }, [index, rowHeight, height]);
}

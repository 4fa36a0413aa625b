import { useEffect, useMemo } from "preact/hooks";
import type { RunAnswer } from "../api/types";
import { plural, runLabel, stepRange } from "../lib/format";
import type { Row } from "../lib/rows";
import { type Domain, FIXED_DOMAIN, fittedDomain } from "../lib/scale";
import type { StepRange } from "../lib/viewport";
import { colourOf } from "../store/curves";
import { rowsOf } from "../store/drawn";
import { overviewOf } from "../store/reading";
import { pickedVariables, viewportOf } from "../store/selectors";
import { paletteOf } from "../theme/palette";
import { useApp, useAppState, useArrivals } from "./context";
import { Crosshair } from "./crosshair";
import { VerdictGlyph } from "./glyph";
import { HeatGrid } from "./heat_grid";
import { HeatTools } from "./heat_tools";
import { IncidentLane } from "./incident_lane";
import { LinesPanel } from "./lines_panel";
import { useWidth, useWindowHeight } from "./measured";
import { Navigator } from "./navigator";
import { PlotRow } from "./plot_row";
import { StepAxis } from "./step_axis";

const ROW_HEIGHT = 20;
/** Room for the words that say that nothing matches the filter. */
const NOTHING_ROWS = 3;
const GAP = 14;
const SCROLLBAR = 12;

/** The rows of the heatmap for what the user has set up; the same for the keys, the grid and the table. */
export function useRows(answer: RunAnswer): readonly Row[] {
  return rowsOf(
    answer,
    useAppState((state) => state.view),
  );
}

/** Incident lane, heatmap, step axis and curves: everything that shares the step axis. */
export function HeatSection({
  answers,
  extent,
  rows,
}: {
  answers: readonly RunAnswer[];
  extent: StepRange;
  rows: readonly Row[];
}) {
  const { session } = useApp();
  const [host, width] = useWidth<HTMLDivElement>();
  const windowHeight = useWindowHeight();
  const view = useAppState((state) => state.view);
  const palette = paletteOf(useAppState((state) => state.dark));
  const domain = useDomain(answers);
  const viewport = viewportOf(view, extent);
  const labelWidth = Math.round(Math.min(380, Math.max(128, width * 0.29)));
  const plotWidth = Math.max(
    40,
    Math.floor((width - labelWidth - SCROLLBAR - GAP * (answers.length - 1)) / answers.length),
  );
  useEffect(() => {
    if (width > 0) session.store.set({ plotWidth: Math.round(plotWidth * (window.devicePixelRatio || 1)) });
  }, [plotWidth, width]);
  const main = answers[0];
  const picked = pickedVariables(view, main);
  const colours = useMemo(
    () => new Map(picked.map((key) => [key, colourOf(key, picked, palette.lines)])),
    [picked.join(" "), palette],
  );
  const most = Math.max(8 * ROW_HEIGHT, Math.round(windowHeight * 0.52));
  const height = Math.min(most, (rows.length || NOTHING_ROWS) * ROW_HEIGHT);
  const places = { answers, labelWidth, plotWidth, gap: GAP };
  useArrivals();
  const waiting = !session.slots.idle();
  return (
    <section class="card heat" aria-label="Gradient health over the steps">
      <HeatTools main={main} domain={domain} rows={rows} />
      <div ref={host} class={waiting ? "heat-host waiting" : "heat-host"}>
        {width > 0 && (
          <>
            {answers.length > 1 && (
              <PlotRow places={places} heads>
                {(answer) => (
                  <div class="run-head" title={answer.run}>
                    <VerdictGlyph of={answer.verdict} size={12} /> {runLabel(answer.run)}
                    {view.against && answer !== main && (
                      <span class="muted"> relative to {runLabel(main.run)}, 0.001 … 1000</span>
                    )}
                  </div>
                )}
              </PlotRow>
            )}
            <PlotRow places={places} label={<span class="lane-label">{incidentWords(main)}</span>}>
              {(answer) => (
                <>
                  <IncidentLane answer={answer} view={viewport} width={plotWidth} />
                  <Crosshair view={viewport} width={plotWidth} />
                </>
              )}
            </PlotRow>
            <HeatGrid
              places={places}
              rows={rows}
              view={viewport}
              domain={domain}
              rowHeight={ROW_HEIGHT}
              height={height}
              lineColours={colours}
            />
            <PlotRow
              places={places}
              label={
                <span class="axis-label">{`step ${stepRange(viewport.range.first, viewport.range.last)}`}</span>
              }
            >
              {(answer) => (
                <>
                  <StepAxis view={viewport} width={plotWidth} />
                  <Navigator extent={extent} view={viewport} width={plotWidth} incidents={answer.incidents} />
                </>
              )}
            </PlotRow>
            <LinesPanel places={places} view={viewport} colours={colours} />
          </>
        )}
      </div>
    </section>
  );
}

function incidentWords({ incidents }: RunAnswer): string {
  return incidents.length === 0 ? "no incidents" : plural(incidents.length, "incident");
}

function useDomain(answers: readonly RunAnswer[]): Domain {
  const { session } = useApp();
  const { metric, domain } = useAppState((state) => state.view);
  const arrived = useArrivals();
  return useMemo(() => {
    const fixed = FIXED_DOMAIN[metric];
    if (domain === "fixed") return fixed;
    const main = answers[0];
    for (const group of main.groups) {
      const tile = overviewOf(session.slots, main.run, group.name);
      if (tile !== null && tile.metric === metric) return fittedDomain(tile.values, fixed);
    }
    return fixed;
  }, [metric, domain, arrived, answers[0].run]);
}

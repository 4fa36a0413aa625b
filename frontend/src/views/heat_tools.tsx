import type { RunAnswer } from "../api/types";
import { tick } from "../lib/format";
import type { Row } from "../lib/rows";
import { type Domain, METRIC_WORDS, METRICS, type Metric } from "../lib/scale";
import { HEALTH_WORDS } from "../lib/states";
import { paletteOf, rampGradient } from "../theme/palette";
import { useApp, useAppState } from "./context";
import { FilterBar } from "./filter_bar";
import { Glyph } from "./glyph";
import { ViewMenu } from "./view_menu";

/** What is drawn and how: metric, filter, order, scale, and the legend of the colours. */
export function HeatTools({ main, domain, rows }: { main: RunAnswer; domain: Domain; rows: readonly Row[] }) {
  const { session, actions } = useApp();
  const view = useAppState((state) => state.view);
  return (
    <div class="tools">
      <label class="field">
        <span class="sr-only">Metric</span>
        <select
          value={view.metric}
          onChange={(event) => session.show({ metric: event.currentTarget.value as Metric })}
        >
          {METRICS.map((metric) => (
            <option key={metric} value={metric}>
              {METRIC_WORDS[metric]}
            </option>
          ))}
        </select>
      </label>
      <FilterBar main={main} rows={rows} />
      <ViewMenu main={main} />
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" title="Zoom out (−)" onClick={() => actions.zoom(-1)}>
          −
        </button>
        <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => actions.zoom(1)}>
          +
        </button>
        <button
          type="button"
          title="Show all steps (0)"
          disabled={view.steps === null}
          onClick={() => actions.showAll()}
        >
          All steps
        </button>
      </div>
      <ColourLegend domain={domain} />
    </div>
  );
}

/** The ramp with its ends, and the four states that are not on it. */
function ColourLegend({ domain }: { domain: Domain }) {
  const palette = paletteOf(useAppState((state) => state.dark));
  const low = domain.log ? tick(domain.low) : "0 %";
  const high = domain.log ? tick(domain.high) : "100 %";
  return (
    <div class="colour-legend" aria-label={`Colours from ${low} to ${high}, and the states`} role="group">
      <span class="ramp-end">≤ {low}</span>
      <span class="ramp" style={{ background: rampGradient(palette) }} />
      <span class="ramp-end">≥ {high}</span>
      {(["zero", "none", "inf", "nan"] as const).map((state) => (
        <span key={state} class="legend-state">
          <Glyph of={state} size={11} />
          {HEALTH_WORDS[state]}
        </span>
      ))}
    </div>
  );
}

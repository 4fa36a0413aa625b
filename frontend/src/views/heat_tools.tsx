import type { RunAnswer } from "../api/types";
import { tick } from "../lib/format";
import type { Sort } from "../lib/rows";
import { type Domain, METRIC_WORDS, METRICS, type Metric } from "../lib/scale";
import type { Extra } from "../lib/view_state";
import { paletteOf, rampGradient } from "../theme/palette";
import { useApp, useAppState } from "./context";
import { FilterBar } from "./filter_bar";
import { Glyph } from "./glyph";
import { Menu } from "./menu";

const EXTRAS: readonly (readonly [Extra, string])[] = [
  ["loss", "Loss"],
  ["learning_rate", "Learning rate"],
  ["global_norm", "Global norm"],
];

/** What is drawn and how: metric, filter, order, scale, and the legend of the colours. */
export function HeatTools({ main, domain }: { main: RunAnswer; domain: Domain }) {
  const { session, actions } = useApp();
  const view = useAppState((state) => state.view);
  const replicas = Math.max(1, ...main.groups.map((group) => group.replicas));
  const toggle = (extra: Extra) =>
    session.show({
      extras: view.extras.includes(extra) ? view.extras.filter((e) => e !== extra) : [...view.extras, extra],
    });
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
      <FilterBar main={main} />
      <Menu label="View">
        <fieldset>
          <legend>Where several steps share a pixel, show</legend>
          <Choice
            name="keep"
            value="worst"
            now={view.keep}
            words="the worst"
            onPick={(keep) => session.show({ keep })}
          />
          <Choice
            name="keep"
            value="smallest"
            now={view.keep}
            words="the smallest"
            onPick={(keep) => session.show({ keep })}
          />
        </fieldset>
        <fieldset>
          <legend>Order of rows</legend>
          {(["worst", "model", "name"] as const).map((sort: Sort) => (
            <Choice
              key={sort}
              name="sort"
              value={sort}
              now={view.sort}
              words={sort === "worst" ? "worst first" : sort === "model" ? "as in the model" : "by name"}
              onPick={(value) => session.show({ sort: value })}
            />
          ))}
        </fieldset>
        <fieldset>
          <legend>Colours</legend>
          <Choice
            name="domain"
            value="fixed"
            now={view.domain}
            words="the same for all runs"
            onPick={(value) => session.show({ domain: value })}
          />
          <Choice
            name="domain"
            value="fit"
            now={view.domain}
            words="fitted to this run"
            onPick={(value) => session.show({ domain: value })}
          />
        </fieldset>
        <fieldset>
          <legend>Curves</legend>
          <Choice
            name="scale"
            value="log"
            now={view.scale}
            words="logarithmic"
            onPick={(value) => session.show({ scale: value })}
          />
          <Choice
            name="scale"
            value="linear"
            now={view.scale}
            words="linear"
            onPick={(value) => session.show({ scale: value })}
          />
        </fieldset>
        <fieldset>
          <legend>Below the curves</legend>
          {EXTRAS.map(([extra, words]) => (
            <label key={extra} class="choice">
              <input type="checkbox" checked={view.extras.includes(extra)} onChange={() => toggle(extra)} />{" "}
              {words}
            </label>
          ))}
        </fieldset>
        {replicas > 1 && (
          <fieldset>
            <legend>Replica</legend>
            <select
              aria-label="Replica"
              value={view.replica === null ? "" : String(view.replica)}
              onChange={({ currentTarget: { value } }) =>
                session.show({ replica: value === "" ? null : Number(value) })
              }
            >
              <option value="">all, the worst wins</option>
              {Array.from({ length: replicas }, (_, replica) => (
                <option key={replica} value={String(replica)}>
                  replica {replica}
                </option>
              ))}
            </select>
          </fieldset>
        )}
      </Menu>
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

function Choice<T extends string>(props: {
  name: string;
  value: T;
  now: string;
  words: string;
  onPick: (value: T) => void;
}) {
  return (
    <label class="choice">
      <input
        type="radio"
        name={props.name}
        checked={props.now === props.value}
        onChange={() => props.onPick(props.value)}
      />{" "}
      {props.words}
    </label>
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
          {state === "none" ? "None" : state === "zero" ? "zero" : state === "inf" ? "Inf" : "NaN"}
        </span>
      ))}
    </div>
  );
}

import type { RunAnswer } from "../api/types";
import type { Curve } from "../lib/curves";
import { METRIC_WORDS } from "../lib/scale";
import type { Extra } from "../lib/view_state";
import type { Viewport } from "../lib/viewport";
import { bandOf, extraCurves, globalGuides, variableCurves, variableGuides } from "../store/curves";
import { pickedVariables } from "../store/selectors";
import { paletteOf } from "../theme/palette";
import { useApp, useAppState, useArrivals } from "./context";
import { Crosshair } from "./crosshair";
import { LinesChart, type LinesChartProps } from "./lines_chart";
import { LinesLegend } from "./lines_legend";
import { useWindowHeight } from "./measured";
import { type PlotPlaces, PlotRow } from "./plot_row";

const EXTRA_WORDS: Readonly<Record<Extra, string>> = {
  loss: "Loss",
  learning_rate: "Learning rate",
  global_norm: "Global norm",
};

/** Share of the window's height that the curves take, within bounds. */
const HEIGHT = { share: 0.24, least: 190, most: 420 };
const EXTRA_HEIGHT = 84;

interface LinesPanelProps {
  readonly places: PlotPlaces;
  readonly view: Viewport;
  readonly colours: ReadonlyMap<string, string>;
}

/** Curves of the chosen variables, and below them the loss and the learning rate on demand. */
export function LinesPanel({ places, view, colours }: LinesPanelProps) {
  const { answers, labelWidth, plotWidth } = places;
  const { session } = useApp();
  const { slots } = session;
  useArrivals();
  const { metric, scale, extras, against } = useAppState((state) => state.view);
  const tall = Math.round(useWindowHeight() * HEIGHT.share);
  const height = Math.min(HEIGHT.most, Math.max(HEIGHT.least, tall));
  const palette = paletteOf(useAppState((state) => state.dark));
  const main = answers[0];
  const picked = pickedVariables(session.view, main);
  const shared = { view, width: plotWidth, palette };

  const curves = new Map(
    answers.map((answer) => [answer, variableCurves(slots, { main, answer, picked, colours, metric })]),
  );

  const row = (
    label: preact.ComponentChildren,
    chart: (answer: RunAnswer) => Omit<LinesChartProps, keyof typeof shared>,
  ) => (
    <PlotRow places={places} label={label}>
      {(answer) => (
        <div class="chart-cell">
          <LinesChart {...shared} {...chart(answer)} />
          <Crosshair view={view} width={plotWidth} />
        </div>
      )}
    </PlotRow>
  );

  return (
    <section class="lines" aria-label="Curves of the chosen variables">
      {row(<LinesLegend answer={main} picked={picked} colours={colours} width={labelWidth} />, (answer) => ({
        curves: [
          ...(curves.get(answer) ?? []),
          // The main run's own curves, dotted, to see the difference in one plot.
          ...(against && answer !== main ? (curves.get(main) ?? []).map(outline) : []),
        ],
        others: [...curves.values()].flat(),
        band: bandOf(slots, answer, metric),
        guides: variableGuides(answer, metric),
        log: scale === "log" && metric !== "zero_share",
        height,
        label: `${METRIC_WORDS[metric]} of ${picked.length} variables over the steps. The table view has the numbers.`,
      }))}
      {extras.map((extra) =>
        row(<span class="extra-label">{EXTRA_WORDS[extra]}</span>, (answer) => ({
          curves: extraCurves(slots, answer, extra, palette.ink),
          band: null,
          guides: extra === "global_norm" ? globalGuides(answer) : [],
          log: extra === "global_norm",
          height: EXTRA_HEIGHT,
          label: `${EXTRA_WORDS[extra]} over the steps.`,
        })),
      )}
    </section>
  );
}

/** A curve for comparison: no veil, and no marks of states, which would be taken for those of the run itself. */
function outline({ key, colour, x, y }: Curve): Curve {
  return { key: `outline|${key}`, colour, x, y, dash: [2, 3] };
}

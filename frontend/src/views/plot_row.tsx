import type { ComponentChildren } from "preact";
import type { RunAnswer } from "../api/types";

/** How the page's width is shared: names on the left, then one plot for each run. */
export interface PlotPlaces {
  readonly answers: readonly RunAnswer[];
  readonly labelWidth: number;
  readonly plotWidth: number;
  readonly gap: number;
}

/** Something on the step axis: its label, and the same for each run. */
export function PlotRow({
  places: { answers, labelWidth, plotWidth, gap },
  label = null,
  heads = false,
  children,
}: {
  places: PlotPlaces;
  label?: ComponentChildren;
  heads?: boolean;
  children: (answer: RunAnswer) => ComponentChildren;
}) {
  return (
    <div class={heads ? "plot-row run-heads" : "plot-row"}>
      <div class="plot-label" style={{ width: `${labelWidth}px` }}>
        {label}
      </div>
      <div class="plot-cells" style={{ gap: `${gap}px` }}>
        {answers.map((answer) => (
          <div key={answer.run} class="plot-cell" style={{ width: `${plotWidth}px` }}>
            {children(answer)}
          </div>
        ))}
      </div>
    </div>
  );
}

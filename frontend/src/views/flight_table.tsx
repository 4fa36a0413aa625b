import { useEffect, useRef } from "preact/hooks";
import type { FlightStep } from "../api/types";
import { count, quantity } from "../lib/format";
import { healthWord } from "../lib/states";
import { useApp } from "./context";
import { Glyph } from "./glyph";

/** The steps around incidents one by one, however wide the windows of the run have become. */
export function FlightTable({ flight, pinned }: { flight: readonly FlightStep[]; pinned: number | null }) {
  const { actions } = useApp();
  const body = useRef<HTMLDivElement>(null);
  const nearest = pinned ?? flight.find((step) => step.state !== "ok")?.step ?? null;
  useEffect(() => {
    const row = body.current?.querySelector<HTMLElement>("[data-here=true]");
    if (row != null && body.current !== null)
      body.current.scrollTop = row.offsetTop - body.current.clientHeight / 2;
  }, [nearest, flight]);
  return (
    <>
      <h3>Flight recorder, step by step</h3>
      <div ref={body} class="flight" tabIndex={0} role="region" aria-label="Flight recorder">
        <table>
          <thead>
            <tr>
              <th scope="col" class="number">
                Step
              </th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Norm
              </th>
              <th scope="col" class="number">
                Bad values
              </th>
              <th scope="col" class="number">
                Loss
              </th>
            </tr>
          </thead>
          <tbody>
            {flight.map((step) => (
              <tr key={step.step} class={step.state === "ok" ? "" : "ill"} data-here={step.step === nearest}>
                <th scope="row" class="number">
                  {/* A stop of the Tab key at each of a hundred good steps would bar the way to the rest of the page. */}
                  <button
                    type="button"
                    class="plain"
                    tabIndex={step.state === "ok" ? -1 : 0}
                    onClick={() => actions.goTo(step.step)}
                  >
                    {count(step.step)}
                  </button>
                </th>
                <td>
                  <Glyph of={step.state} size={11} /> {healthWord(step.state)}
                </td>
                <td class="number">{quantity(step.norm)}</td>
                <td class="number">{badElements(step)}</td>
                <td class="number">{quantity(step.loss)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function badElements({ nan_elements, inf_elements }: FlightStep): string {
  const parts = [];
  if (nan_elements > 0) parts.push(`${count(nan_elements)} NaN`);
  if (inf_elements > 0) parts.push(`${count(inf_elements)} Inf`);
  return parts.join(", ") || "–";
}

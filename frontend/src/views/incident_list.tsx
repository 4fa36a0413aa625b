import { useState } from "preact/hooks";
import type { Incident, RunAnswer } from "../api/types";
import { count, plural, stepRange } from "../lib/format";
import { healthRank, healthWord } from "../lib/states";
import { useApp } from "./context";
import { Glyph } from "./glyph";

type Order = "severity" | "first" | "last" | "steps" | "variables";

const ORDERS: Readonly<Record<Order, (a: Incident, b: Incident) => number>> = {
  severity: (a, b) => healthRank(a.kind) - healthRank(b.kind) || a.first_step - b.first_step,
  first: (a, b) => a.first_step - b.first_step,
  last: (a, b) => b.last_step - a.last_step,
  steps: (a, b) => b.steps - a.steps,
  variables: (a, b) => b.variables.length - a.variables.length,
};

const HEADS: readonly (readonly [Order, string])[] = [
  ["severity", "What"],
  ["first", "Steps"],
  ["steps", "Bad steps"],
  ["variables", "Variables"],
];

const SHOWN = 12;

/** Everything bad that happened, as a table that can be put in order. */
export function IncidentList({ answer }: { answer: RunAnswer }) {
  const { actions, session } = useApp();
  const [order, setOrder] = useState<Order>("severity");
  const [all, setAll] = useState(false);
  const sorted = [...answer.incidents].sort(ORDERS[order]);
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  if (sorted.length === 0) return null;
  return (
    <section class="card incidents" aria-labelledby="incidents-title">
      <h2 id="incidents-title">
        Incidents <span class="count">{sorted.length}</span>
      </h2>
      <table>
        <thead>
          <tr>
            {HEADS.map(([key, words]) => (
              <th key={key} scope="col" aria-sort={order === key ? "other" : "none"} class={`col-${key}`}>
                <button type="button" class="plain" onClick={() => setOrder(key)}>
                  {words}
                  {order === key && <span class="caret" aria-hidden="true" />}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((incident) => (
            <tr key={incident.id} class={`severity-${incident.severity}`}>
              <th scope="row">
                <button
                  type="button"
                  class="plain incident-go"
                  title={incident.sentence}
                  onClick={() => {
                    actions.showIncident(incident);
                    session.notify(`Showing ${healthWord(incident.kind)} at step ${count(incident.first_step)}`);
                  }}
                >
                  <Glyph of={incident.kind} size={13} /> {healthWord(incident.kind)}
                  {incident.open && <span class="open-dot">ongoing</span>}
                </button>
              </th>
              <td class="number">{stepRange(incident.first_step, incident.last_step)}</td>
              <td class="number">{count(incident.steps)}</td>
              <td class="number">{count(incident.variables.length)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > SHOWN && (
        <button type="button" class="plain more" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${plural(sorted.length, "incident")}`}
        </button>
      )}
    </section>
  );
}

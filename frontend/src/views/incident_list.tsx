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

const HEAD_TITLES: Readonly<Record<Exclude<Order, "last">, string>> = {
  severity: "Order by severity",
  first: "First and last step; order by the first, then by the last",
  steps: "How many steps were bad",
  variables: "How many variables",
};

const HEADS: readonly (readonly [Exclude<Order, "last">, string])[] = [
  ["severity", "What"],
  ["first", "Steps"],
  ["steps", "Bad"],
  ["variables", "Variables"],
];

/** The column of steps orders by the first of them, and by the last. */
function isBy(order: Order, column: Order): boolean {
  return order === column || (column === "first" && order === "last");
}

const SHOWN = 12;

/** Everything bad that happened, as a table that can be put in order. */
export function IncidentList({ answer }: { answer: RunAnswer }) {
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
              <th key={key} scope="col" aria-sort={isBy(order, key) ? "other" : "none"} class={`col-${key}`}>
                <button
                  type="button"
                  class="plain"
                  title={HEAD_TITLES[key]}
                  onClick={() => setOrder(key === "first" && order === "first" ? "last" : key)}
                >
                  {key === "first" && order === "last" ? "Last step" : words}
                  {isBy(order, key) && <span class="caret" aria-hidden="true" />}
                </button>
              </th>
            ))}
            <th scope="col" class="incident-words">
              What happened
            </th>
          </tr>
        </thead>
        {shown.map((incident) => (
          <IncidentRows key={incident.id} incident={incident} answer={answer} />
        ))}
      </table>
      {sorted.length > SHOWN && (
        <button type="button" class="plain more" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${plural(sorted.length, "incident")}`}
        </button>
      )}
    </section>
  );
}

function IncidentRows({ incident, answer }: { incident: Incident; answer: RunAnswer }) {
  const { actions, session } = useApp();
  const { kind, severity, open, sentence, first_step, last_step, steps, variables, group } = incident;
  const show = () => {
    actions.showIncident(incident);
    session.notify(`Showing ${healthWord(kind)} at step ${count(first_step)}`);
  };
  return (
    <tbody class={`severity-${severity}`}>
      <tr>
        <th scope="row">
          <button type="button" class="plain incident-go" onClick={show}>
            <Glyph of={kind} size={13} /> {healthWord(kind)}
            {open && <span class="open-dot">ongoing</span>}
          </button>
        </th>
        <td class="number">{stepRange(first_step, last_step)}</td>
        <td class="number">{count(steps)}</td>
        <td class="number">{variables.length === 0 ? "–" : count(variables.length)}</td>
        <td class="incident-words">
          {sentence}
          {answer.groups.length > 1 && group !== "" && ` (${group})`}
        </td>
      </tr>
    </tbody>
  );
}

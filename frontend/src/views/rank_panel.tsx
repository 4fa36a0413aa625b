import type { RankAnswer, RunAnswer } from "../api/types";
import { plural, quantity, steps } from "../lib/format";
import { type Row, variableKey, variablesBetween } from "../lib/rows";
import { useApp, useAppState, useArrivals } from "./context";
import { Glyph } from "./glyph";

const SHOWN = 10;

/** The variables of a box, by how they differ there from the rest of the run. */
export function RankPanel({ answer, rows }: { answer: RunAnswer; rows: readonly Row[] }) {
  const { session, actions } = useApp();
  useArrivals();
  const { box, boxRows } = useAppState((state) => state.view);
  if (box === null) return null;
  const inside = boxRows === null ? null : variablesBetween(rows, boxRows);
  const ranked = answer.groups
    .flatMap((group) =>
      (session.slots.value<RankAnswer>(`rank|${group.name}`)?.variables ?? []).map((entry) => ({
        ...entry,
        key: variableKey(group.name, entry.index),
        name: group.variables[entry.index]?.name ?? "",
      })),
    )
    .filter((entry) => inside === null || inside.has(entry.key))
    .sort((a, b) => b.score - a.score)
    .slice(0, SHOWN);
  const waiting = answer.groups.some((group) => !session.slots.settled(`rank|${group.name}`));
  const error = answer.groups
    .map((group) => session.slots.error(`rank|${group.name}`))
    .find((e) => e !== null);
  return (
    <section class="card rank" aria-labelledby="rank-title">
      <header class="card-head">
        <h2 id="rank-title">What differs in {steps(box.first, box.last)}</h2>
        <button type="button" onClick={() => actions.showSteps(box, 0)}>
          Zoom
        </button>
        <button
          type="button"
          class="plain"
          aria-label="Close the ranking"
          onClick={() => session.show({ box: null, boxRows: null })}
        >
          ×
        </button>
      </header>
      {inside !== null && (
        <p class="muted rank-scope">
          The {plural(inside.size, "variable")} of the box, by how they differ from the rest of the run.{" "}
          <button type="button" class="plain link" onClick={() => session.show({ boxRows: null })}>
            Rank all variables
          </button>
        </p>
      )}
      {error != null && <p class="muted">{error.message}</p>}
      {ranked.length === 0 && error == null && (
        <p class="muted">{waiting ? "Comparing…" : "Nothing differs from the rest of the run."}</p>
      )}
      <ol>
        {ranked.map((entry) => (
          <li key={entry.key}>
            <button
              type="button"
              class="plain"
              title={entry.name}
              onClick={() => actions.openDetails(entry.key, box.first)}
            >
              <Glyph of={entry.state} size={12} /> <span class="rank-name">{entry.name}</span>
            </button>
            <span class="rank-why">
              {entry.why || `${quantity(entry.inside)}, elsewhere ${quantity(entry.outside)}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

import type { RankAnswer, RunAnswer } from "../api/types";
import { quantity, steps } from "../lib/format";
import { variableKey } from "../lib/rows";
import { useApp, useAppState, useArrivals } from "./context";
import { Glyph } from "./glyph";

const SHOWN = 10;

/** The variables of a box, by how they differ there from the rest of the run. */
export function RankPanel({ answer }: { answer: RunAnswer }) {
  const { session, actions } = useApp();
  useArrivals();
  const box = useAppState((state) => state.view.box);
  if (box === null) return null;
  const ranked = answer.groups
    .flatMap((group) =>
      (session.slots.value<RankAnswer>(`rank|${group.name}`)?.variables ?? []).map((entry) => ({
        ...entry,
        key: variableKey(group.name, entry.index),
        name: group.variables[entry.index]?.name ?? "",
      })),
    )
    .sort((a, b) => b.score - a.score)
    .slice(0, SHOWN);
  const waiting = answer.groups.some((group) => !session.slots.settled(`rank|${group.name}`));
  const error = answer.groups.map((group) => session.slots.error(`rank|${group.name}`)).find((e) => e !== null);
  return (
    <section class="card rank" aria-labelledby="rank-title">
      <header class="card-head">
        <h2 id="rank-title">What differs in {steps(box.first, box.last)}</h2>
        <button type="button" onClick={() => actions.showSteps(box, 0)}>
          Zoom
        </button>
        <button type="button" class="plain" aria-label="Close the ranking" onClick={() => session.show({ box: null })}>
          ×
        </button>
      </header>
      {error != null && <p class="muted">{error.message}</p>}
      {ranked.length === 0 && error == null && (
        <p class="muted">{waiting ? "Comparing…" : "Nothing differs from the rest of the run."}</p>
      )}
      <ol>
        {ranked.map((entry) => (
          <li key={entry.key}>
            <button type="button" class="plain" title={entry.name} onClick={() => actions.openDetails(entry.key, box.first)}>
              <Glyph of={entry.state} size={12} /> <span class="rank-name">{entry.name}</span>
            </button>
            <span class="rank-why">{entry.why || `${quantity(entry.inside)}, elsewhere ${quantity(entry.outside)}`}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

import type { RunAnswer } from "../api/types";
import { differences, type Pair, rowValues } from "../lib/compare";
import { plural, quantity, runLabel } from "../lib/format";
import { parseVariableKey } from "../lib/rows";
import { METRIC_WORDS } from "../lib/scale";
import { healthWord } from "../lib/states";
import { overviewOf, pairing } from "../store/reading";
import { findVariable } from "../store/selectors";
import type { Slots } from "../store/slots";
import { useApp, useAppState, useArrivals } from "./context";
import { Glyph } from "./glyph";
import { Name } from "./name";

const SHOWN = 10;
/** Pixels of a name in the narrowest side column. */
const NAME = 178;

/** The main run against each of those beside it: the variables that differ most. */
export function ComparePanel({ answers }: { answers: readonly RunAnswer[] }) {
  const { session, actions } = useApp();
  useArrivals();
  const { metric, against } = useAppState((state) => state.view);
  const [main, ...others] = answers;
  if (others.length === 0) return null;
  return (
    <>
      {others.map((other) => {
        const pairs = pairsOf(session.slots, main, other);
        const total = main.groups.reduce((n, group) => n + group.variables.length, 0);
        return (
          <section
            key={other.run}
            class="card compare"
            aria-label={`${runLabel(other.run)} against ${runLabel(main.run)}`}
          >
            <header class="card-head">
              <h2 title={`${other.run} against ${main.run}`}>
                {runLabel(other.run)} against {runLabel(main.run)}
              </h2>
              <button
                type="button"
                class="toggle"
                aria-pressed={against}
                title="Draw the runs beside relative to this one"
                onClick={() => session.show({ against: !against })}
              >
                Relative
              </button>
            </header>
            <p class="muted">
              {METRIC_WORDS[metric]}, median over the run.
              {pairs.length > 0 &&
                pairs.length < total &&
                ` ${plural(total - pairs.length, "variable")} not in ${runLabel(other.run)}.`}
            </p>
            {pairs.length === 0 && <p>No variable of one has the name of one of the other.</p>}
            <table hidden={pairs.length === 0}>
              <thead>
                <tr>
                  <th scope="col">Variable</th>
                  <th scope="col">State</th>
                  <th scope="col" class="number">
                    Ratio
                  </th>
                </tr>
              </thead>
              <tbody>
                {differences(pairs)
                  .slice(0, SHOWN)
                  .map(({ key, name, mainState, otherState, ratio }) => (
                    <tr key={key}>
                      <th scope="row">
                        <button
                          type="button"
                          class="plain"
                          title={name}
                          onClick={() => actions.openDetails(key)}
                        >
                          <Name text={name} width={NAME} />
                        </button>
                      </th>
                      <td>
                        <span title={`${healthWord(mainState)} → ${healthWord(otherState)}`}>
                          <Glyph of={mainState} say size={12} /> → <Glyph of={otherState} say size={12} />
                        </span>
                      </td>
                      <td class="number">{ratio === null ? "–" : `× ${quantity(ratio)}`}</td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </section>
        );
      })}
    </>
  );
}

function pairsOf(slots: Slots, main: RunAnswer, other: RunAnswer): Pair[] {
  const pairs: Pair[] = [];
  const values = (answer: RunAnswer, key: string) => {
    const place = parseVariableKey(key);
    const tile = place === null ? null : overviewOf(slots, answer.run, place.group);
    return rowValues(tile, tile?.rowOf(place?.index ?? 0) ?? -1);
  };
  for (const [mainKey, otherKey] of pairing(main, other)) {
    const [a, b] = [findVariable(main, mainKey), findVariable(other, otherKey)];
    if (a === null || b === null) continue;
    pairs.push({
      key: mainKey,
      name: a.name,
      mainState: a.state,
      otherState: b.state,
      mainValues: values(main, mainKey),
      otherValues: values(other, otherKey),
    });
  }
  return pairs;
}

import type { Tile } from "../api/tile";
import type { RunAnswer } from "../api/types";
import { count, quantity, shape, stepRange } from "../lib/format";
import type { Row } from "../lib/rows";
import { METRIC_WORDS } from "../lib/scale";
import { healthWord, STATE_SHORT, STATE_WORDS, State } from "../lib/states";
import { useApp, useAppState, useArrivals } from "./context";
import { Glyph } from "./glyph";

/** More rows would only make the page slow; the CSV has them all. */
const MOST_ROWS = 300;

/** Everything that is drawn, as a table: each column merges its steps as a pixel would. */
export function TableView({ answer, rows }: { answer: RunAnswer; rows: readonly Row[] }) {
  const { session } = useApp();
  useArrivals();
  const metric = useAppState((state) => state.view.metric);
  const groups = answer.groups.map((group) => ({
    group,
    tile: session.slots.value<Tile>(`table|${answer.run}|${group.name}`),
    members: rows.filter((row) => row.group === group.name && row.kind !== "group"),
  }));
  return (
    <section class="card table-view" aria-labelledby="table-title">
      <header class="card-head">
        <h2 id="table-title">The same as a table: {METRIC_WORDS[metric]}</h2>
        <button
          type="button"
          class="plain"
          aria-label="Close the table"
          onClick={() => session.show({ table: false })}
        >
          ×
        </button>
      </header>
      {groups.map(({ group, tile, members }) => (
        <div
          key={group.name}
          class="table-scroll"
          tabIndex={0}
          role="region"
          aria-label={`Table of ${group.name}`}
        >
          <table>
            <caption class="sr-only">
              {METRIC_WORDS[metric]} of {group.name} by variable and steps
            </caption>
            <thead>
              <tr>
                <th scope="col">Variable</th>
                <th scope="col">Shape</th>
                <th scope="col">State</th>
                <th scope="col">Since</th>
                {tile !== null &&
                  [...tile.first].map((first, c) => (
                    <th key={first} scope="col" class="number">
                      {stepRange(first, tile.last[c])}
                    </th>
                  ))}
              </tr>
            </thead>
            <tbody>
              {members.slice(0, MOST_ROWS).map((row) => {
                const variable = row.kind === "variable" ? group.variables[row.members[0]] : null;
                return (
                  <tr key={row.key} class={`table-${row.kind}`}>
                    <th scope="row" title={row.title}>
                      {row.title}
                    </th>
                    <td>{variable === null ? `${row.members.length} variables` : shape(variable.shape)}</td>
                    <td>
                      <Glyph of={row.state} size={11} /> {healthWord(row.state)}
                    </td>
                    <td class="number">{row.since === null ? "–" : count(row.since)}</td>
                    {tile !== null &&
                      [...tile.first].map((first, c) => <TableCell key={first} {...folded(tile, row, c)} />)}
                  </tr>
                );
              })}
            </tbody>
          </table>
          {members.length > MOST_ROWS && (
            <p class="muted">
              The first {MOST_ROWS} of {count(members.length)} rows. Filter them, or save the CSV.
            </p>
          )}
        </div>
      ))}
    </section>
  );
}

function TableCell({ state, value }: { state: number; value: number }) {
  if (state === State.notRecorded) return <td class="number muted">–</td>;
  if (state === State.finite) return <td class="number">{quantity(value)}</td>;
  const number = Number.isNaN(value) ? "" : ` ${quantity(value)}`;
  return (
    <td class={`number cell-${state}`}>
      <b title={STATE_WORDS[state]}>{STATE_SHORT[state]}</b>
      {number}
    </td>
  );
}

function folded(tile: Tile, row: Row, column: number): { state: number; value: number } {
  let state = 0;
  let value = Number.NaN;
  for (const index of row.members) {
    const place = tile.rowOf(index);
    if (place < 0) continue;
    const at = place * tile.columns + column;
    state = Math.max(state, tile.states[at]);
    if (Number.isNaN(value) || tile.values[at] > value) value = tile.values[at];
  }
  return { state, value };
}

import type { RunAnswer } from "../api/types";
import { count } from "../lib/format";
import type { Row } from "../lib/rows";
import { HEALTH, healthWord } from "../lib/states";
import { useApp, useAppState } from "./context";
import { Glyph } from "./glyph";

/** Id of the search field, for the key that jumps to it. */
export const FILTER_ID = "gradhealth-filter";

/** Search by name and layer, and a button for each state that occurs. */
export function FilterBar({ main, rows }: { main: RunAnswer; rows: readonly Row[] }) {
  const { session } = useApp();
  const { text, states } = useAppState((state) => state.view);
  const counts = new Map<string, number>();
  for (const group of main.groups) {
    for (const { state } of group.variables) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const total = main.groups.reduce((n, group) => n + group.variables.length, 0);
  const matching = rows.reduce((n, row) => (row.level === 1 ? n + row.members.length : n), 0);
  const order = [...counts.keys()].sort(
    (a, b) => (HEALTH as readonly string[]).indexOf(a) - (HEALTH as readonly string[]).indexOf(b),
  );
  return (
    <>
      <input
        id={FILTER_ID}
        type="search"
        placeholder="Filter variables  /"
        aria-label="Filter variables by name, layer: or state:"
        value={text}
        onInput={(event) => session.show({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          session.show({ text: "" });
          event.currentTarget.blur();
        }}
      />
      <span class="muted" role="status">
        {matching < total && `${count(matching)} of ${count(total)}`}
      </span>
      <div class="chips" role="group" aria-label="Show only these states">
        {order.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={states.includes(state)}
            title={`Show only ${healthWord(state)}`}
            onClick={() =>
              session.show({
                states: states.includes(state) ? states.filter((s) => s !== state) : [...states, state],
              })
            }
          >
            <Glyph of={state} size={11} /> {healthWord(state)} <b>{counts.get(state)}</b>
          </button>
        ))}
      </div>
    </>
  );
}

import type { RunAnswer } from "../api/types";
import { columnAt } from "../lib/binning";
import { quantity } from "../lib/format";
import { parseVariableKey } from "../lib/rows";
import { STATE_SHORT, State } from "../lib/states";
import { endsOf, tileWith } from "../store/reading";
import { findVariable } from "../store/selectors";
import { useApp, useCursor } from "./context";
import { Name } from "./name";

/** Pixels that the colour, the value and the button beside a name take. */
const AROUND_NAME = 116;
/** On a narrow page there is no value. */
const AROUND_NARROW = 62;
const NARROW = 170;

/** Names of the curves, their values at the cursor, and how to take one out. */
export function LinesLegend({
  answer,
  picked,
  colours,
  width,
}: {
  answer: RunAnswer;
  picked: readonly string[];
  colours: ReadonlyMap<string, string>;
  width: number;
}) {
  const { session, actions } = useApp();
  const step = useCursor((cursor) => cursor.step);
  const valueAtCursor = (key: string): string => {
    const place = parseVariableKey(key);
    const at = step ?? answer.last_step;
    if (place === null || at === null) return "";
    const found = tileWith(session.slots, answer.run, place, { first: at, last: at });
    const column = found === null ? -1 : columnAt(found.tile, endsOf(found.tile), at + 0.5);
    if (found === null || column < 0) return "";
    const { tile } = found;
    const cell = found.row * tile.columns + column;
    const state = tile.states[cell];
    return state > State.finite ? STATE_SHORT[state] : quantity(tile.values[cell]);
  };
  return (
    <ul class="legend-list" aria-label="Variables in the chart">
      {picked.map((key) => {
        const name = findVariable(answer, key)?.name ?? "";
        return (
          <li key={key} title={name}>
            <span class="swatch" style={{ background: colours.get(key) }} />
            <Name text={name} width={width - (width < NARROW ? AROUND_NARROW : AROUND_NAME)} />
            <span class="legend-value">{valueAtCursor(key)}</span>
            <button
              type="button"
              class="plain"
              aria-label={`Take ${name} out of the chart`}
              onClick={() => actions.pick(key)}
            >
              ×
            </button>
          </li>
        );
      })}
      {picked.length === 0 && <li class="muted">Choose variables with the dot at the end of their row.</li>}
      <li class="legend-band">
        <span class="swatch band-swatch" />
        <span>p5–p95 of all variables</span>
      </li>
    </ul>
  );
}

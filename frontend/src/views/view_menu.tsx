import type { RunAnswer } from "../api/types";
import type { Extra, ViewState } from "../lib/view_state";
import { useApp, useAppState } from "./context";
import { Menu } from "./menu";

type Chosen = "keep" | "sort" | "domain" | "scale";

/** What can be set, with the words for each of its values. */
const CHOICES: readonly {
  readonly [K in Chosen]: {
    readonly name: K;
    readonly legend: string;
    readonly words: Readonly<Record<ViewState[K], string>>;
  };
}[Chosen][] = [
  {
    name: "keep",
    legend: "Where several steps share a pixel, show",
    words: { worst: "the worst", smallest: "the smallest" },
  },
  {
    name: "sort",
    legend: "Order of rows",
    words: { worst: "worst first", model: "as in the model", name: "by name" },
  },
  {
    name: "domain",
    legend: "Colours",
    words: { fixed: "the same for all runs", fit: "fitted to this run" },
  },
  { name: "scale", legend: "Curves", words: { log: "logarithmic", linear: "linear" } },
];

const EXTRAS: readonly (readonly [Extra, string])[] = [
  ["loss", "Loss"],
  ["learning_rate", "Learning rate"],
  ["global_norm", "Global norm"],
];

/** How the numbers are drawn, and what comes below them. */
export function ViewMenu({ main }: { main: RunAnswer }) {
  const { session } = useApp();
  const view = useAppState((state) => state.view);
  const replicas = Math.max(1, ...main.groups.map((group) => group.replicas));
  const toggle = (extra: Extra) =>
    session.show({
      extras: view.extras.includes(extra) ? view.extras.filter((e) => e !== extra) : [...view.extras, extra],
    });
  return (
    <Menu label="View">
      {CHOICES.map(({ name, legend, words }) => (
        <fieldset key={name}>
          <legend>{legend}</legend>
          {Object.entries(words).map(([value, said]) => (
            <label key={value} class="choice">
              <input
                type="radio"
                name={name}
                checked={view[name] === value}
                onChange={() => session.show({ [name]: value })}
              />{" "}
              {said}
            </label>
          ))}
        </fieldset>
      ))}
      <fieldset>
        <legend>Below the curves</legend>
        {EXTRAS.map(([extra, words]) => (
          <label key={extra} class="choice">
            <input type="checkbox" checked={view.extras.includes(extra)} onChange={() => toggle(extra)} />{" "}
            {words}
          </label>
        ))}
      </fieldset>
      {replicas > 1 && (
        <fieldset>
          <legend>Replica</legend>
          <select
            aria-label="Replica"
            value={view.replica === null ? "" : String(view.replica)}
            onChange={({ currentTarget: { value } }) =>
              session.show({ replica: value === "" ? null : Number(value) })
            }
          >
            <option value="">all, the worst wins</option>
            {Array.from({ length: replicas }, (_, replica) => (
              <option key={replica} value={String(replica)}>
                replica {replica}
              </option>
            ))}
          </select>
        </fieldset>
      )}
    </Menu>
  );
}

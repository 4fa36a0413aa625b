import { useState } from "preact/hooks";
import type { RunSummary } from "../api/types";
import { ago, count, plural, runLabel } from "../lib/format";
import { MOST_BESIDE } from "../lib/view_state";
import { byAlarm, chosenRun, judged, runList } from "../store/selectors";
import { useApp, useAppState, useArrivals } from "./context";
import { VerdictGlyph } from "./glyph";
import { Menu } from "./menu";

/** Id of the button, for the key that opens the list. */
export const PICKER_ID = "gradhealth-runs";

const FILTER_FROM = 8;

/** Which run is on show, and which lie beside it. */
export function RunPicker() {
  const { session } = useApp();
  useArrivals();
  const state = useAppState((now) => now);
  const runs = runList(session.slots) ?? [];
  const chosen = chosenRun(state, session.slots);
  const summary = runs.find((run) => run.run === chosen) ?? null;
  if (chosen === null) return null;
  return (
    <Menu
      wide
      id={PICKER_ID}
      title="Choose a run (r)"
      label={
        <span class="run-button">
          <VerdictGlyph of={summary === null ? null : judged(state, session.slots, summary).verdict} />
          <span class="sr-only">Run </span>
          <span class="run-name">{runLabel(chosen)}</span>
          {state.view.beside.length > 0 && <span class="row-count">+{state.view.beside.length}</span>}
        </span>
      }
    >
      {(close: () => void) => <RunTable runs={runs} chosen={chosen} close={close} />}
    </Menu>
  );
}

function RunTable({
  runs,
  chosen,
  close,
}: {
  runs: readonly RunSummary[];
  chosen: string;
  close: () => void;
}) {
  const { session } = useApp();
  const state = useAppState((now) => now);
  const { beside } = state.view;
  const [text, setText] = useState("");
  const ours = runs
    .filter((run) => run.has_data)
    .map((run) => {
      const { verdict, sentence } = judged(state, session.slots, run);
      return { ...run, verdict, sentence };
    })
    .sort(byAlarm);
  const others = runs.length - ours.length;
  const shown = ours.filter((run) => run.run.toLowerCase().includes(text.toLowerCase()));
  const now = Date.now() / 1000;
  const toggle = (run: string) =>
    session.show({ beside: beside.includes(run) ? beside.filter((r) => r !== run) : [...beside, run] });
  return (
    <>
      {ours.length > FILTER_FROM && (
        <input
          type="search"
          placeholder="Filter runs"
          aria-label="Filter runs"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <table class="run-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col" class="number">
              Steps
            </th>
            <th scope="col">Written</th>
            <th scope="col">Beside</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ run, verdict, sentence, last_step, wall_time, newer_format }) => (
            <tr key={run} class={run === chosen ? "chosen" : ""}>
              <th scope="row">
                <button
                  type="button"
                  class="plain run-choice"
                  title={run}
                  aria-current={run === chosen ? "true" : undefined}
                  onClick={() => {
                    session.show({
                      run,
                      beside: beside.filter((r) => r !== run),
                      steps: null,
                      picked: null,
                      details: null,
                      pinned: null,
                      box: null,
                      boxRows: null,
                      toggled: [],
                    });
                    session.cursor.set({ step: null, row: null, run: null });
                    close();
                  }}
                >
                  <VerdictGlyph of={verdict} size={14} />
                  <span class="run-words">
                    <span class="run-name">{runLabel(run)}</span>
                    <span class="run-sentence" title={sentence ?? undefined}>
                      {newer_format === null
                        ? (sentence ?? (last_step === null ? "no step yet" : "not judged yet"))
                        : `written in the newer format ${newer_format}`}
                    </span>
                  </span>
                </button>
              </th>
              <td class="number">{last_step === null ? "–" : count(last_step + 1)}</td>
              <td>{wall_time === null ? "–" : ago(wall_time, now)}</td>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Lay ${runLabel(run)} beside`}
                  disabled={run === chosen || (!beside.includes(run) && beside.length >= MOST_BESIDE)}
                  checked={beside.includes(run)}
                  onChange={() => toggle(run)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {others > 0 && <p class="muted">{plural(others, "more run")} without gradient health records.</p>}
    </>
  );
}

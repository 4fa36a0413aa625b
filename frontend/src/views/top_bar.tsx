import { useApp, useAppState } from "./context";
import { ExportMenu } from "./export_menu";
import { RunPicker } from "./run_picker";

/** What belongs to the whole page: the run, what to take away, live, help. */
export function TopBar() {
  const { session } = useApp();
  const live = useAppState((state) => state.live);
  const table = useAppState((state) => state.view.table);
  return (
    <nav class="top-bar" aria-label="Grad Health">
      <RunPicker />
      <span class="spring" />
      <button
        type="button"
        class="toggle"
        aria-pressed={live}
        title="Fetch new steps by themselves"
        onClick={() => session.store.set({ live: !live })}
      >
        <span class={live ? "pulse on" : "pulse"} aria-hidden="true" /> Live
      </button>
      <button
        type="button"
        class="toggle"
        aria-pressed={table}
        title="The same as a table (t)"
        onClick={() => session.show({ table: !table })}
      >
        Table
      </button>
      <ExportMenu />
      <button
        type="button"
        aria-label="Help and keys"
        title="Help and keys (?)"
        onClick={() => session.store.set({ help: true })}
      >
        ?
      </button>
    </nav>
  );
}

/** The server does not answer: say since when, and that we keep asking. */
export function ConnectionNote() {
  const lostSince = useAppState((state) => state.lostSince);
  const answeredAt = useAppState((state) => state.answeredAt);
  if (lostSince === null) return null;
  return (
    <div class="notes notes-lost" role="alert">
      <p>
        TensorBoard does not answer.{" "}
        {answeredAt === null
          ? "Is it still running?"
          : `What you see was fetched at ${new Date(answeredAt).toLocaleTimeString()}.`}{" "}
        Asking again every few seconds.
      </p>
    </div>
  );
}

export function Notice() {
  const notice = useAppState((state) => state.notice);
  return (
    <div class={notice === "" ? "notice" : "notice shown"} role="status">
      {notice}
    </div>
  );
}

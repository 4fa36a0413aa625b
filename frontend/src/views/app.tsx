import { useEffect } from "preact/hooks";
import { Refused } from "../api/client";
import type { RunAnswer } from "../api/types";
import { runLabel } from "../lib/format";
import { chosenRun, extentOf, runAnswer, runList, shownRuns } from "../store/selectors";
import { Announcer } from "./announcer";
import { Causes } from "./cause_card";
import { ComparePanel } from "./compare_panel";
import { type App, AppContext, useApp, useAppState, useArrivals } from "./context";
import { JustBegun, Loading, NoData, RunFailed } from "./empty";
import { HeatSection, useRows } from "./heat_section";
import { Help } from "./help";
import { IncidentList } from "./incident_list";
import { useKeys } from "./keys";
import { RankPanel } from "./rank_panel";
import { TableView } from "./table_view";
import { Tooltip } from "./tooltip";
import { ConnectionNote, Notice, TopBar } from "./top_bar";
import { VariablePanel } from "./variable_panel";
import { Problems, VerdictHead } from "./verdict";

export function Page({ app }: { app: App }) {
  return (
    <AppContext.Provider value={app}>
      <Themed />
    </AppContext.Provider>
  );
}

function Themed() {
  const dark = useAppState((state) => state.dark);
  useEffect(() => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }, [dark]);
  return (
    <div class="page">
      <ConnectionNote />
      <Content />
      <Help />
      <Notice />
    </div>
  );
}

function Content() {
  const { session } = useApp();
  useArrivals();
  const state = useAppState((now) => now);
  const runs = runList(session.slots);
  if (runs === null) {
    const error = session.slots.error("runs");
    if (error === null || state.lostSince !== null) return <Loading />;
    return <RunFailed title="The log directory cannot be read" message={error.message} />;
  }
  const run = chosenRun(state, session.slots);
  if (run === null) return <NoData others={runs.length} />;
  const answer = runAnswer(session.slots, run);
  const error = session.slots.error(`run|${run}`);
  const gone = error instanceof Refused && error.status === 404;
  if (answer === null || gone) return <Unavailable run={run} error={error} />;
  const answers = shownRuns(state, session.slots)
    .map((name) => runAnswer(session.slots, name))
    .filter((found): found is RunAnswer => found !== null);
  return <RunPage answers={answers} />;
}

function Unavailable({ run, error }: { run: string; error: Error | null }) {
  const { session } = useApp();
  if (error === null) return <Loading />;
  const others = (runList(session.slots) ?? []).filter((other) => other.has_data && other.run !== run);
  const gone = error instanceof Refused && error.status === 404;
  return (
    <>
      {others.length > 0 && <TopBar />}
      <RunFailed
        title={gone ? `The run ${runLabel(run)} is not there` : `The run ${runLabel(run)} cannot be read`}
        message={gone ? "It was deleted or renamed, or it holds no gradient health records." : error.message}
      >
        {others.length > 0 && (
          <button
            type="button"
            onClick={() => session.show({ run: null, beside: [], steps: null, details: null })}
          >
            Show another run
          </button>
        )}
      </RunFailed>
    </>
  );
}

function RunPage({ answers }: { answers: readonly RunAnswer[] }) {
  const table = useAppState((state) => state.view.table);
  const main = answers[0];
  const rows = useRows(main);
  useKeys(rows);
  const extent = extentOf(answers);
  return (
    <main id="gradhealth-page">
      <TopBar />
      <VerdictHead answer={main} />
      <Problems answer={main} />
      {extent === null && main.incidents.length === 0 ? (
        main.groups.length > 0 && (
          <JustBegun variables={main.groups.reduce((n, group) => n + group.variables.length, 0)} />
        )
      ) : (
        <div class="columns">
          <div class="column-main">
            {table && extent !== null ? <TableView answer={main} rows={rows} /> : null}
            {extent !== null && <HeatSection answers={answers} extent={extent} rows={rows} />}
            <IncidentList answer={main} />
          </div>
          <div class="column-side">
            <VariablePanel answer={main} />
            <RankPanel answer={main} rows={rows} />
            <ComparePanel answers={answers} />
            <Causes answer={main} />
          </div>
        </div>
      )}
      <Tooltip answers={answers} rows={rows} />
      <Announcer answer={main} rows={rows} />
    </main>
  );
}

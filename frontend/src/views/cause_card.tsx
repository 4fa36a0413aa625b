import type { Cause, RunAnswer } from "../api/types";
import { count, fileName, plural } from "../lib/format";
import { healthWord } from "../lib/states";
import { useApp } from "./context";
import { Glyph } from "./glyph";

const CERTAINTY: Readonly<Record<string, string>> = {
  certain: "certain",
  likely: "likely",
  guess: "a guess",
};

/** Why, and what to change. */
export function Causes({ answer }: { answer: RunAnswer }) {
  if (answer.causes.length === 0) return null;
  return (
    <section class="causes" aria-labelledby="causes-title">
      <h2 id="causes-title">{answer.causes.length === 1 ? "The cause" : `${answer.causes.length} causes`}</h2>
      {answer.causes.map((cause) => (
        <CauseCard key={cause.id} cause={cause} answer={answer} />
      ))}
    </section>
  );
}

function CauseCard({ cause, answer }: { cause: Cause; answer: RunAnswer }) {
  const { actions, session } = useApp();
  const incidents = answer.incidents.filter((incident) => incident.cause === cause.id);
  const copyPlace = () =>
    navigator.clipboard
      ?.writeText(`${cause.file}:${cause.line}`)
      .then(() => session.notify("Copied"))
      .catch(() => session.notify(`${cause.file}:${cause.line}`));
  return (
    <article class="card cause" aria-label={cause.reason}>
      <header>
        <Glyph of={cause.kind} say />
        <h3>{cause.reason}</h3>
        <span class={`certainty certainty-${cause.certainty}`}>
          {CERTAINTY[cause.certainty] ?? cause.certainty}
        </span>
      </header>
      {cause.line > 0 && (
        <figure class="source">
          <figcaption>
            <button
              type="button"
              class="plain"
              title={`Copy ${cause.file}:${cause.line}`}
              onClick={copyPlace}
            >
              {fileName(cause.file)}:{cause.line}
            </button>
            <span class="op">
              {cause.op}
              {cause.phase !== "" && `, ${cause.phase} pass`}
            </span>
          </figcaption>
          <pre>
            <span class="line-number" aria-hidden="true">
              {cause.line}
            </span>
            <code>{cause.code}</code>
          </pre>
        </figure>
      )}
      {cause.fix !== "" && (
        <p class="fix">
          <b>Try</b> {cause.fix}
        </p>
      )}
      {cause.evidence.length > 0 && (
        <ul class="evidence">
          {cause.evidence.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <footer>
        {incidents.map((incident) => (
          <button key={incident.id} type="button" class="jump" onClick={() => actions.showIncident(incident)}>
            <Glyph of={incident.kind} size={11} /> {healthWord(incident.kind)} at step{" "}
            {count(incident.first_step)}
          </button>
        ))}
        {incidents.length === 0 && cause.step >= 0 && (
          <button type="button" class="jump" onClick={() => actions.goTo(cause.step)}>
            step {count(cause.step)}
          </button>
        )}
        <span class="muted" title={cause.variables.join("\n")}>
          explains {plural(cause.variables.length, "variable")}
          {cause.replica >= 0 && ` on replica ${cause.replica}`}
        </span>
      </footer>
    </article>
  );
}

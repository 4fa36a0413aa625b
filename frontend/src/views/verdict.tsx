import type { RunAnswer } from "../api/types";
import { ago, count, plural, steps } from "../lib/format";
import { useAppState } from "./context";
import { VerdictGlyph } from "./glyph";

/** The one sentence at the top: is this run healthy? */
export function VerdictHead({ answer }: { answer: RunAnswer }) {
  const answeredAt = useAppState((state) => state.answeredAt);
  const verdict = answer.verdict ?? "begun";
  const variables = answer.groups.reduce((n, group) => n + group.variables.length, 0);
  const facts = [
    answer.first_step === null || answer.last_step === null
      ? null
      : steps(answer.first_step, answer.last_step),
    variables === 0 ? null : plural(variables, "variable"),
    ...answer.groups.map(({ optimizer, hooked }) =>
      [optimizer, HOOKS[hooked] ?? hooked].filter(Boolean).join(" via "),
    ),
    answer.wall_time === null || answeredAt === null
      ? null
      : `last written ${ago(answer.wall_time, answeredAt / 1000)}`,
  ].filter((fact): fact is string => fact !== null && fact !== "");
  return (
    <header class={`verdict verdict-${verdict}`}>
      <span class="verdict-badge" aria-hidden="true">
        <VerdictGlyph of={answer.verdict} size={26} />
      </span>
      <div class="verdict-words">
        <h1>{answer.sentence}</h1>
        <p class="facts">
          {[...new Set(facts)].map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
        {answer.first_step !== null && answer.checked.length > 0 && (
          <details class="checked">
            <summary>What was checked</summary>
            <ul>
              {answer.checked.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </header>
  );
}

/** Ways of recording, as people write them. */
const HOOKS: Readonly<Record<string, string>> = {
  record: "GradHealthWriter.record",
  v1: "v1.GradHealthHook",
};

/** A file full of damage must not push everything else out of sight. */
const MOST_PROBLEMS = 5;

/** What the reader must know before trusting the rest: records left out, damage, a newer format. */
export function Problems({ answer }: { answer: RunAnswer }) {
  const lines: string[] = [];
  if (answer.sampling !== null) {
    const { shown, stored, flag } = answer.sampling;
    lines.push(
      `Showing ${count(shown)} of ${count(stored)} records: TensorBoard was started with ${flag}, which keeps a random sample. Start it with --samples_per_plugin=gradhealth=0 to see all.`,
    );
  }
  if (answer.newer_format !== null && !answer.sentence.includes(String(answer.newer_format))) {
    lines.push(
      `Part of this run was written in format ${answer.newer_format}, which is newer than this version reads. Upgrade tb_gradhealth where TensorBoard runs.`,
    );
  }
  const unread = answer.problems.filter((line) => !answer.sentence.includes(line));
  lines.push(...unread.slice(0, MOST_PROBLEMS).map((line) => `Left out: ${line}`));
  if (unread.length > MOST_PROBLEMS) lines.push(`… and ${count(unread.length - MOST_PROBLEMS)} more.`);
  if (lines.length === 0) return null;
  return (
    <div class="notes" role="status">
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  );
}

import { useEffect, useRef } from "preact/hooks";
import type { RunAnswer, Variable, VariableAnswer } from "../api/types";
import { count, plural, quantity, sentenceCase, shape, share, steps } from "../lib/format";
import { asHealth, HEALTH_MEANING, healthWord } from "../lib/states";
import { findVariable, pickedVariables } from "../store/selectors";
import { useApp, useAppState, useArrivals } from "./context";
import { FlightTable } from "./flight_table";
import { Glyph } from "./glyph";

/** Pixels of the panel that must be in sight. */
const LEAST_SEEN = 60;

const ROLES: Readonly<Record<Variable["role"], string>> = {
  trained: "trained",
  frozen: "frozen: trainable is False",
  not_handed_over: "trainable, never handed to the optimizer",
  untracked: "used by a layer, not among its weights",
};

/** Everything known of one variable. */
export function VariablePanel({ answer }: { answer: RunAnswer }) {
  const panel = useRef<HTMLElement>(null);
  const { session, actions } = useApp();
  useArrivals();
  const key = useAppState((state) => state.view.details);
  const pinned = useAppState((state) => state.view.pinned);
  useAppState((state) => state.view.picked);
  const variable = findVariable(answer, key);
  // On a narrow page the panel comes below the plots: what was asked for must come into sight.
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current === key) return; // a link that was opened begins at the verdict
    shown.current = key;
    const top = panel.current?.getBoundingClientRect().top ?? 0;
    if (top > window.innerHeight - LEAST_SEEN) panel.current?.scrollIntoView({ block: "start" });
  }, [key]);
  if (key === null || variable === null) return null;
  const more = session.slots.value<VariableAnswer>("variable");
  const fresh = more !== null && more.index === variable.index && more.name === variable.name ? more : null;
  const error = session.slots.error("variable");
  const drawn = pickedVariables(session.view, answer).includes(key);
  return (
    <section ref={panel} class="card details" aria-labelledby="details-title">
      <header class="card-head">
        <Glyph of={variable.state} size={16} />
        <h2 id="details-title" title={variable.name}>
          {variable.name || "(no name)"}
        </h2>
        <button type="button" aria-pressed={drawn} class="toggle" onClick={() => actions.pick(key)}>
          Curve
        </button>
        <button
          type="button"
          class="plain"
          aria-label="Close the details"
          onClick={() => actions.openDetails(null)}
        >
          ×
        </button>
      </header>
      <p class="details-state">
        <b>{healthWord(variable.state)}</b>
        {variable.since !== null && variable.state !== "ok" && <> since step {count(variable.since)}</>}
        {". "}
        {HEALTH_MEANING[asHealth(variable.state)]}
      </p>
      <Facts
        pairs={[
          ["Shape", `${shape(variable.shape)} ${variable.dtype}`],
          ["Elements", count(variable.size)],
          ["Layer", variable.layer],
          ["Role", ROLES[variable.role] ?? variable.role],
          ["Expected None", variable.expected_none ? "yes, as told by ignore=" : null],
          ...Object.entries(variable.evidence).map(
            ([name, value]): Pair => [sentenceCase(name.replaceAll("_", " ")), quantity(value)],
          ),
        ]}
      />
      {error !== null && fresh === null && <p class="muted">{error.message}</p>}
      {fresh !== null && <Statistics more={fresh} />}
      {fresh !== null && fresh.flight.length > 0 && <FlightTable flight={fresh.flight} pinned={pinned} />}
    </section>
  );
}

type Pair = readonly [string, string | null];

function Statistics({ more }: { more: VariableAnswer }) {
  const { latest, totals, replicas } = more;
  const of = (n: number) => (n === 0 ? "none" : `${plural(n, "step")} of ${count(totals.steps)}`);
  return (
    <>
      <h3>{latest.step === null ? "Latest" : `Latest, ${steps(latest.step, latest.step)}`}</h3>
      <Facts
        pairs={[
          ["Gradient norm", quantity(latest.norm)],
          ["Largest |g|", quantity(latest.largest)],
          ["Share of zeros", share(latest.zero_share)],
          ["Weight norm", quantity(latest.weight_norm)],
          ["Update : weight", `${quantity(latest.update_ratio)}${ratioWord(latest.update_ratio)}`],
        ]}
      />
      <h3>Whole run</h3>
      <Facts
        pairs={[
          ["Median norm", quantity(totals.norm_median)],
          [
            "Largest norm",
            totals.norm_max_step === null
              ? quantity(totals.norm_max)
              : `${quantity(totals.norm_max)} at step ${count(totals.norm_max_step)}`,
          ],
          [
            "NaN",
            totals.nan === 0 ? "none" : `${of(totals.nan)}, up to ${plural(totals.nan_elements, "element")}`,
          ],
          [
            "Inf",
            totals.inf === 0 ? "none" : `${of(totals.inf)}, up to ${plural(totals.inf_elements, "element")}`,
          ],
          ["None", of(totals.none)],
          ["Exactly zero", of(totals.zero)],
          ["Caught by the loss scaler", totals.handled === 0 ? null : of(totals.handled)],
          ["First bad step", totals.first_bad_step === null ? null : count(totals.first_bad_step)],
          ...(replicas.length < 2
            ? []
            : replicas.map(
                ({ replica, norm_last, first_bad_step }): Pair => [
                  `Replica ${replica}`,
                  first_bad_step === null ? quantity(norm_last) : `bad from step ${count(first_bad_step)} on`,
                ],
              )),
        ]}
      />
    </>
  );
}

function Facts({ pairs }: { pairs: readonly Pair[] }) {
  return (
    <dl class="facts-list">
      {pairs.map(([name, value]) =>
        value === null || value === "" ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** About a thousandth is a healthy step of training. */
function ratioWord(ratio: number | null): string {
  if (ratio === null || ratio === 0) return "";
  if (ratio > 1e-2) return " (large: about 1e−3 is usual)";
  return ratio < 1e-5 ? " (small: about 1e−3 is usual)" : "";
}

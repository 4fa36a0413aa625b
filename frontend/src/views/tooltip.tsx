import { useEffect, useRef } from "preact/hooks";
import type { RunAnswer } from "../api/types";
import { plural, quantity, runLabel, steps } from "../lib/format";
import type { Row } from "../lib/rows";
import { DETAILED, METRIC_WORDS } from "../lib/scale";
import { STATE_HEALTH, STATE_WORDS, State } from "../lib/states";
import { readCell } from "../store/reading";
import { useApp, useAppState, useCursor } from "./context";
import { Glyph } from "./glyph";

/** What is under the mouse. */
export function Tooltip({ answers, rows }: { answers: readonly RunAnswer[]; rows: readonly Row[] }) {
  const { session } = useApp();
  const cursor = useCursor((now) => now);
  const { metric, keep } = useAppState((state) => state.view);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const follow = (event: PointerEvent) => {
      if (box.current === null) return;
      const { offsetWidth: width, offsetHeight: height } = box.current;
      const x =
        event.clientX + 16 + width > window.innerWidth ? event.clientX - 12 - width : event.clientX + 16;
      const y =
        event.clientY + 18 + height > window.innerHeight ? event.clientY - 12 - height : event.clientY + 18;
      box.current.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
    };
    window.addEventListener("pointermove", follow);
    return () => window.removeEventListener("pointermove", follow);
  }, []);
  const row = rows.find((candidate) => candidate.key === cursor.row);
  const shown = cursor.run !== null && cursor.step !== null && row !== undefined;
  const cell = shown
    ? readCell(session.slots, cursor.run ?? "", answers[0].run, row, cursor.step ?? 0, keep)
    : null;
  return (
    <div ref={box} class={shown ? "tooltip shown" : "tooltip"} aria-hidden="true">
      {shown && row !== undefined && (
        <>
          <div class="tooltip-name">{row.title}</div>
          {row.kind !== "variable" && (
            <div class="muted">{plural(row.members.length, "variable")}, the worst wins</div>
          )}
          {answers.length > 1 && <div class="muted">{runLabel(cursor.run ?? "")}</div>}
          {cell === null ? (
            <div class="muted">nothing recorded at step {cursor.step}</div>
          ) : (
            <>
              <div>{steps(cell.first, cell.last)}</div>
              {DETAILED.includes(metric) && <div class="muted">as last measured</div>}
              <div class="tooltip-value">
                <Glyph of={STATE_HEALTH[cell.state]} size={12} />
                {cell.state !== State.finite && <b>{STATE_WORDS[cell.state]}</b>}
                {!Number.isNaN(cell.value) && (
                  <span>
                    {METRIC_WORDS[metric]}{" "}
                    <b>{metric === "change" ? `× ${quantity(cell.value)}` : quantity(cell.value)}</b>
                  </span>
                )}
              </div>
            </>
          )}
        </>
      )}
    </div>
  );
}

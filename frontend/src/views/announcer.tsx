import { useEffect, useState } from "preact/hooks";
import type { RunAnswer } from "../api/types";
import { quantity, steps } from "../lib/format";
import type { Row } from "../lib/rows";
import { STATE_WORDS } from "../lib/states";
import { readCell } from "../store/reading";
import { useApp, useCursor } from "./context";

/** Long enough that holding a key down does not talk without end. */
const PAUSE = 350;

/** Says where the cursor stands, for those who listen to the page. */
export function Announcer({ answer, rows }: { answer: RunAnswer; rows: readonly Row[] }) {
  const { session } = useApp();
  const cursor = useCursor((now) => now);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (cursor.run !== null) return; // the mouse is at work: its tooltip says it
    const timer = setTimeout(() => {
      const row = rows.find((candidate) => candidate.key === cursor.row);
      if (row === undefined || cursor.step === null) return;
      const cell = readCell(session.slots, answer.run, answer.run, row, cursor.step, session.view.keep);
      setWords(
        cell === null
          ? `${row.title}, step ${cursor.step}: nothing recorded`
          : `${row.title}, ${steps(cell.first, cell.last)}: ${STATE_WORDS[cell.state]}${Number.isNaN(cell.value) ? "" : `, ${quantity(cell.value)}`}`,
      );
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [cursor, answer, rows]);
  return (
    <div class="sr-only" role="status" aria-live="polite" id="gradhealth-announcer">
      {words}
    </div>
  );
}

import type { RunAnswer } from "../api/types";
import { steps } from "../lib/format";
import { laneMarks } from "../lib/lane";
import { healthWord } from "../lib/states";
import type { Viewport } from "../lib/viewport";
import { useApp } from "./context";
import { Glyph } from "./glyph";

/** Marks closer than this share one head. */
const HEAD = 18;

/** Incidents over the step axis: however narrow one is, it has a mark. */
export function IncidentLane({ answer, view, width }: { answer: RunAnswer; view: Viewport; width: number }) {
  const { actions } = useApp();
  const marks = laneMarks(answer.incidents, view, width, HEAD);
  return (
    <div class="lane" style={{ width: `${width}px` }}>
      {marks.map((mark) => {
        const members = mark.ids.map((id) => answer.incidents.find((incident) => incident.id === id));
        const first = members[0];
        if (first === undefined) return null;
        const words =
          mark.ids.length === 1
            ? `${healthWord(first.kind)}, ${steps(first.first_step, first.last_step)}: ${first.sentence}`
            : `${mark.ids.length} incidents from step ${first.first_step} on: ${kinds(members.map((m) => m?.kind ?? ""))}`;
        return (
          <>
            <span
              key={`bar${mark.ids[0]}`}
              class={`lane-bar tint-${mark.kind}`}
              style={{ left: `${mark.left}px`, width: `${Math.max(2, mark.right - mark.left)}px` }}
            />
            <button
              key={mark.ids[0]}
              type="button"
              class="lane-mark"
              style={{ left: `${Math.min(mark.left, width - HEAD)}px` }}
              title={words}
              aria-label={words}
              onClick={() => (mark.ids.length === 1 ? actions.goToIncident(first) : zoomInto(mark.ids))}
            >
              <Glyph of={mark.kind} size={12} />
              {mark.ids.length > 1 && <span class="lane-count">{mark.ids.length}</span>}
            </button>
          </>
        );
      })}
    </div>
  );

  function zoomInto(ids: readonly number[]) {
    const members = answer.incidents.filter((incident) => ids.includes(incident.id));
    const heads = members.map((incident) => incident.first_step);
    const range = { first: Math.min(...heads), last: Math.max(...heads) };
    actions.goToIncident(members[0]);
    if (range.last > range.first) actions.showSteps(range);
  }
}

function kinds(all: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const kind of all) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, n]) => `${n} × ${healthWord(kind)}`).join(", ");
}

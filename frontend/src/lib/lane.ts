/** Marks of incidents over the step axis: those that would cover each other are drawn as one, with a number. */

import { healthRank } from "./states";
import type { Viewport } from "./viewport";

export interface LaneIncident {
  readonly id: number;
  readonly kind: string;
  readonly first_step: number;
  readonly last_step: number;
}

export interface Mark {
  /** Pixels from the left edge of the lane. */
  readonly left: number;
  readonly right: number;
  readonly kind: string;
  /** Most severe first. */
  readonly ids: readonly number[];
}

/** A head with a number beside it takes this many times the room. */
const COUNTED = 1.6;

/** Marks from left to right; heads closer than `head` pixels share one. Incidents out of view have none. */
export function laneMarks(
  incidents: readonly LaneIncident[],
  view: Viewport,
  pixels: number,
  head: number,
): Mark[] {
  const seen = incidents
    .filter(({ kind, first_step, last_step }) => {
      // A step that raised was never recorded: it comes after the last that was.
      const end = kind === "error" ? view.end + 1 : view.end;
      return last_step + 1 > view.start && first_step < end;
    })
    .map((incident) => ({
      incident,
      left: Math.min(pixels, Math.max(0, view.x(incident.first_step, pixels))),
      right: Math.min(pixels, view.x(incident.last_step + 1, pixels)),
    }))
    .sort((a, b) => a.left - b.left || severity(a.incident) - severity(b.incident));
  const marks: { left: number; right: number; members: LaneIncident[] }[] = [];
  for (const { incident, left, right } of seen) {
    const before = marks.at(-1);
    if (before !== undefined && left - before.left < (before.members.length > 1 ? head * COUNTED : head)) {
      before.members.push(incident);
      before.right = Math.max(before.right, right);
    } else {
      marks.push({ left, right, members: [incident] });
    }
  }
  return marks.map(({ left, right, members }) => {
    const order = [...members].sort((a, b) => severity(a) - severity(b));
    return { left, right, kind: order[0].kind, ids: order.map((incident) => incident.id) };
  });
}

function severity(incident: LaneIncident): number {
  return healthRank(incident.kind);
}

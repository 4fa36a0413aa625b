/** What the user can do, apart from how: the mouse, the keys and the buttons all come here. */

import type { Incident } from "../api/types";
import type { Row } from "../lib/rows";
import { variableKey } from "../lib/rows";
import type { StepRange, Viewport } from "../lib/viewport";
import { chosenRun, incidentsByStep, pickedVariables, runAnswer, shownExtent, viewportOf } from "./selectors";
import type { Session } from "./session";

const ZOOM = 0.7;

export class Actions {
  constructor(private readonly session: Session) {}

  /** Shows a range of steps; everything if it is the whole run. */
  look(view: Viewport): void {
    const extent = this.extent();
    if (extent === null) return;
    const range = view.clamped(extent).range;
    const all = range.first <= extent.first && range.last >= extent.last;
    this.session.show({ steps: all ? null : range });
  }

  zoom(times: number, anchor?: number): void {
    const view = this.viewport();
    const extent = this.extent();
    if (view === null || extent === null) return;
    const cursor = this.session.cursor.get().step;
    const inView = cursor !== null && cursor >= view.start && cursor < view.end ? cursor + 0.5 : null;
    const middle = (view.start + view.end) / 2;
    this.look(view.zoomed(ZOOM ** times, anchor ?? inView ?? middle, extent));
  }

  pan(share: number): void {
    const view = this.viewport();
    const extent = this.extent();
    if (view !== null && extent !== null) this.look(view.panned(share, extent));
  }

  showAll(): void {
    this.session.show({ steps: null });
  }

  showSteps(range: StepRange, margin = 0.25): void {
    const extent = this.extent();
    if (extent === null) return;
    const width = Math.max(8, (range.last + 1 - range.first) * (1 + 2 * margin));
    const middle = (range.first + range.last + 1) / 2;
    const first = Math.floor(middle - width / 2);
    this.session.show({ steps: { first, last: first + Math.ceil(width) - 1 } });
    const view = this.viewport();
    if (view !== null) this.look(view);
  }

  /** Moves the step cursor by a thousandth of the view or one step, whichever is more. */
  moveStep(direction: number, far: boolean): void {
    const view = this.viewport();
    const extent = this.extent();
    if (view === null || extent === null) return;
    const now = this.session.cursor.get().step ?? Math.floor(direction > 0 ? view.start : view.end - 1);
    const stride = Math.max(1, Math.round((view.width / 1000) * (far ? 50 : 1)));
    const step = Math.min(extent.last, Math.max(extent.first, now + direction * stride));
    this.goTo(step);
  }

  goTo(step: number): void {
    const extent = this.extent();
    const view = this.viewport();
    if (extent === null || view === null) return;
    this.session.cursor.set({ step });
    const moved = view.revealing(step, extent);
    if (!moved.equals(view)) this.look(moved);
  }

  moveRow(rows: readonly Row[], by: number): void {
    if (rows.length === 0) return;
    const now = rows.findIndex((row) => row.key === this.session.cursor.get().row);
    const next = now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, now + by));
    this.session.cursor.set({ row: rows[next].key });
  }

  /** What Enter and a click do: unfolds a layer, shows a variable's details at the step. */
  activate(row: Row): void {
    if (row.kind !== "variable") this.fold(row.key);
    else this.openDetails(row.key, this.session.cursor.get().step);
  }

  fold(key: string): void {
    const { toggled } = this.session.view;
    this.session.show({
      toggled: toggled.includes(key) ? toggled.filter((k) => k !== key) : [...toggled, key],
    });
  }

  openDetails(key: string | null, pinned: number | null = null): void {
    this.session.show({ details: key, pinned: key === null ? null : pinned });
  }

  /** Adds a variable to the line chart or takes it out. */
  pick(key: string): void {
    const answer = this.answer();
    if (answer === null) return;
    const now = pickedVariables(this.session.view, answer);
    this.session.show({ picked: now.includes(key) ? now.filter((k) => k !== key) : [...now, key] });
  }

  goToIncident(incident: Incident): void {
    this.session.cursor.set({ step: incident.first_step, row: firstRow(incident) });
    const view = this.viewport();
    if (view !== null && incident.first_step >= view.start && incident.first_step < view.end) return;
    this.goTo(incident.first_step);
  }

  /** The incident after or before the step cursor. */
  nextIncident(direction: 1 | -1): Incident | null {
    const answer = this.answer();
    if (answer === null) return null;
    const order = incidentsByStep(answer);
    const { step } = this.session.cursor.get();
    const from = step ?? (direction > 0 ? -Infinity : Infinity);
    const found =
      direction > 0
        ? order.find((incident) => incident.first_step > from)
        : order.findLast((incident) => incident.first_step < from);
    const target = found ?? (direction > 0 ? order[0] : order.at(-1));
    if (target === undefined) return null;
    this.goToIncident(target);
    return target;
  }

  /** Brings an incident's steps into view with room around them, and its variables into the line chart. */
  showIncident(incident: Incident): void {
    if (incident.variables.length > 0)
      this.session.show({
        picked: incident.variables.slice(0, 4).map((i) => variableKey(incident.group, i)),
      });
    this.showSteps({ first: incident.first_step, last: incident.last_step });
    this.session.cursor.set({ step: incident.first_step, row: firstRow(incident) });
  }

  viewport(): Viewport | null {
    const extent = this.extent();
    return extent === null ? null : viewportOf(this.session.view, extent);
  }

  extent(): StepRange | null {
    return shownExtent(this.session.store.get(), this.session.slots);
  }

  private answer() {
    const run = chosenRun(this.session.store.get(), this.session.slots);
    return run === null ? null : runAnswer(this.session.slots, run);
  }
}

function firstRow(incident: Incident): string | null {
  return incident.variables.length > 0 ? variableKey(incident.group, incident.variables[0]) : null;
}

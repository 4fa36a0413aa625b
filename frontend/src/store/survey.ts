/** Asks for the verdicts on runs that are not on show, one after the other, so that the list of runs can show them. */

import type { Client } from "../api/client";
import type { RunSummary, Verdict } from "../api/types";
import { runAnswer, runList } from "./selectors";
import type { Slots } from "./slots";
import type { AppStore } from "./state";

/** A server has better things to do than to judge hundreds of old runs. */
const MOST = 40;

export class Survey {
  private readonly asked = new Set<string>();
  private busy = false;

  constructor(
    private readonly store: AppStore,
    private readonly slots: Slots,
    private readonly client: Client,
  ) {}

  /** Goes on with the survey, if nothing more urgent is on its way. */
  async goOn(): Promise<void> {
    if (this.busy || !this.slots.idle()) return;
    const next = this.next();
    if (next === null) return;
    this.busy = true;
    this.asked.add(next.run);
    try {
      const { verdict } = await this.client.run(next.run, AbortSignal.timeout(60_000));
      if (verdict !== null) this.note(next.run, verdict);
    } catch {
      // Unknown stays unknown: whoever opens that run is told what is wrong with it.
    } finally {
      this.busy = false;
    }
    void this.goOn();
  }

  private next(): RunSummary | null {
    if (this.asked.size >= MOST || !this.store.get().seen) return null;
    const unknown = (runList(this.slots) ?? []).filter(
      ({ run, has_data, verdict }) =>
        has_data && verdict === null && !this.asked.has(run) && runAnswer(this.slots, run) === null,
    );
    return unknown.sort((a, b) => (b.wall_time ?? 0) - (a.wall_time ?? 0))[0] ?? null;
  }

  private note(run: string, verdict: Verdict): void {
    this.store.set({ verdicts: new Map(this.store.get().verdicts).set(run, verdict) });
  }
}

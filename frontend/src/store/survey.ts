/** Asks for the verdicts on runs that are not on show, one after the other, so that the list of runs can show them. */

import type { Client } from "../api/client";
import type { RunSummary } from "../api/types";
import { runAnswer, runList } from "./selectors";
import type { Slots } from "./slots";
import type { AppStore, Judged } from "./state";

/** A server has better things to do than to judge hundreds of old runs. */
const MOST = 40;
/** A run that is still written is judged anew at most this often. */
const AGAIN_MS = 60_000;

interface Asked {
  readonly wallTime: number | null;
  readonly at: number;
}

export class Survey {
  private readonly asked = new Map<string, Asked>();
  private busy = false;

  constructor(
    private readonly store: AppStore,
    private readonly slots: Slots,
    private readonly client: Client,
    private readonly now: () => number = Date.now,
  ) {}

  /** Goes on with the survey, if nothing more urgent is on its way. */
  async goOn(): Promise<void> {
    if (this.busy || !this.slots.idle() || !this.store.get().seen) return;
    const next = this.next();
    if (next === null) return;
    this.busy = true;
    this.asked.set(next.run, { wallTime: next.wall_time, at: this.now() });
    try {
      this.note(next.run, await this.client.run(next.run, AbortSignal.timeout(60_000)));
    } catch {
      // Unknown stays unknown: whoever opens that run is told what is wrong with it.
    } finally {
      this.busy = false;
    }
    void this.goOn();
  }

  private next(): RunSummary | null {
    const due = (runList(this.slots) ?? []).filter((run) => this.isDue(run));
    return due.sort((a, b) => (b.wall_time ?? 0) - (a.wall_time ?? 0))[0] ?? null;
  }

  private isDue({ run, has_data, verdict, wall_time }: RunSummary): boolean {
    if (!has_data || verdict !== null || runAnswer(this.slots, run) !== null) return false;
    const before = this.asked.get(run);
    if (before === undefined) return this.asked.size < MOST;
    return before.wallTime !== wall_time && this.now() - before.at >= AGAIN_MS;
  }

  private note(run: string, { verdict, sentence }: Judged): void {
    if (verdict === null) return;
    this.store.set({ verdicts: new Map(this.store.get().verdicts).set(run, { verdict, sentence }) });
  }
}

/**
 * What the page has fetched: one slot for each thing that is shown, holding the newest answer that arrived.
 *
 * A slot is asked for by its id; when the key of what it should hold changes, the new answer is fetched while the old
 * one stays on show. A slot that nobody needs is dropped, so memory is bounded by what is on the page.
 */

import { Store } from "./store";

export interface Need {
  /** The place on the page. */
  readonly id: string;
  /** What should be there: changes whenever a new answer must be fetched. */
  readonly key: string;
  readonly load: (signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds to wait for a still newer need, where there is an older answer to show meanwhile. */
  readonly patience?: number;
}

interface Slot {
  want: string;
  have: string | null;
  value: unknown;
  error: Error | null;
  stop: (() => void) | null;
}

export class Slots {
  /** Counts arrivals, for subscribers. */
  readonly arrivals = new Store({ count: 0 });
  private readonly slots = new Map<string, Slot>();

  constructor(private readonly failed: (error: Error) => void = () => {}) {}

  /** The newest answer of a slot, whether or not a newer one is on its way. */
  value<T>(id: string): T | null {
    return (this.slots.get(id)?.value as T | undefined) ?? null;
  }

  error(id: string): Error | null {
    return this.slots.get(id)?.error ?? null;
  }

  /** Whether the answer on show is the one that was asked for last. */
  settled(id: string): boolean {
    const slot = this.slots.get(id);
    return slot !== undefined && slot.have === slot.want;
  }

  /** Whether nothing is on its way. */
  idle(): boolean {
    return [...this.slots.values()].every((slot) => slot.stop === null);
  }

  /** Fetches what is needed and not there; forgets what is not needed. */
  sync(needs: readonly Need[]): void {
    const wanted = new Set(needs.map((need) => need.id));
    for (const [id, slot] of this.slots) {
      if (wanted.has(id)) continue;
      slot.stop?.();
      this.slots.delete(id);
    }
    for (const need of needs) this.fill(need);
  }

  /** Asks again for everything whose last request failed. */
  retry(needs: readonly Need[]): void {
    for (const slot of this.slots.values()) if (slot.error !== null) slot.want = "";
    this.sync(needs);
  }

  private fill(need: Need): void {
    let slot = this.slots.get(need.id);
    if (slot?.want === need.key) return;
    if (slot === undefined) {
      slot = { want: "", have: null, value: null, error: null, stop: null };
      this.slots.set(need.id, slot);
    }
    slot.stop?.();
    slot.want = need.key;
    this.start(slot, need);
  }

  private start(slot: Slot, need: Need): void {
    const abort = new AbortController();
    const wait = slot.value === null ? 0 : (need.patience ?? 0);
    const timer = setTimeout(() => this.load(slot, need, abort.signal), wait);
    slot.stop = () => {
      clearTimeout(timer);
      abort.abort();
    };
  }

  private async load(slot: Slot, need: Need, signal: AbortSignal): Promise<void> {
    let error: Error | null = null;
    let value: unknown;
    try {
      value = await need.load(signal);
    } catch (caught) {
      error = caught instanceof Error ? caught : new Error(String(caught));
    }
    if (signal.aborted) return;
    slot.stop = null;
    slot.error = error;
    if (error === null) {
      slot.value = value;
      slot.have = need.key;
    } else {
      this.failed(error);
    }
    this.arrivals.set({ count: this.arrivals.get().count + 1 });
  }
}

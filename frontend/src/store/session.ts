/** The page's one session: state, answers, and the wiring between them, the server and TensorBoard around us. */

import { Client, Refused, Unreachable } from "../api/client";
import { connect } from "../host/channel";
import { isOurs, readHash, writeHash } from "../host/link";
import { hostWindow, isSeen, watchDark, watchSeen } from "../host/surroundings";
import { fromParameters, toParameters, type ViewState } from "../lib/view_state";
import { needsOf } from "./needs";
import { mostAlarming, runList } from "./selectors";
import { Slots } from "./slots";
import { type AppStore, type CursorStore, createCursor, INITIAL } from "./state";
import { Store } from "./store";
import { Survey } from "./survey";

/** A running training writes every few seconds and TensorBoard rereads every five: asking more often shows nothing new. */
const LIVE_MS = 10_000;
const RETRY_MS = 3_000;
const NOTICE_MS = 4_000;

export class Session {
  readonly store: AppStore = new Store(INITIAL);
  readonly cursor: CursorStore = createCursor();
  readonly slots = new Slots((error) => this.failed(error));
  readonly host = hostWindow();
  private readonly survey: Survey;
  private noticeTimer = 0;
  private syncing = false;

  constructor(readonly client: Client = new Client(document.baseURI)) {
    this.survey = new Survey(this.store, this.slots, client);
  }

  start(): void {
    this.store.set({ view: fromParameters(readHash(this.host.location.hash)) });
    this.store.subscribe(() => this.later());
    this.slots.arrivals.subscribe(() => this.arrived());
    watchDark(this.host, (dark) => this.store.set({ dark }));
    watchSeen(() => this.looked());
    connect(window.parent, { reloaded: () => this.refresh(), runsChanged: () => this.refresh() });
    this.host.addEventListener("hashchange", () => this.followLink());
    setInterval(() => this.tick(), LIVE_MS);
    setInterval(() => this.retry(), RETRY_MS);
    this.takeFocus();
    this.looked();
    this.sync();
  }

  get view(): ViewState {
    return this.store.get().view;
  }

  /** Changes what the user has set up, and the link with it. */
  show(patch: Partial<ViewState>): void {
    this.store.set({ view: { ...this.view, ...patch } });
  }

  refresh(): void {
    this.store.set({ refresh: this.store.get().refresh + 1 });
  }

  notify(notice: string): void {
    clearTimeout(this.noticeTimer);
    this.store.set({ notice });
    this.noticeTimer = Number(setTimeout(() => this.store.set({ notice: "" }), NOTICE_MS));
  }

  /** Several changes within one task make one look at what is needed. */
  private later(): void {
    if (this.syncing) return;
    this.syncing = true;
    queueMicrotask(() => {
      this.syncing = false;
      this.sync();
    });
  }

  private sync(): void {
    this.slots.sync(needsOf(this.store.get(), this.slots, this.client));
    this.writeLink();
  }

  private arrived(): void {
    const { began } = this.store.get();
    if (began === null) this.store.set({ began: mostAlarming(runList(this.slots) ?? [])?.run ?? null });
    void this.survey.goOn();
    if (this.slots.error("runs") === null) this.store.set({ lostSince: null, answeredAt: Date.now() });
    this.later();
  }

  private failed(error: Error): void {
    if (error instanceof Unreachable && this.store.get().lostSince === null) {
      this.store.set({ lostSince: Date.now() });
    }
    // A run that is gone: the list of runs knows.
    if (error instanceof Refused && error.status === 404 && this.store.get().lostSince === null) this.later();
  }

  private looked(): void {
    const seen = isSeen();
    const before = this.store.get().seen;
    this.store.set({ seen });
    if (seen && !before) this.takeFocus();
    if (seen && !before && this.store.get().live) this.refresh();
  }

  /** The keys work without a click first, unless the user is busy in TensorBoard's own page. */
  private takeFocus(): void {
    const { activeElement, body } = this.host.document;
    if (activeElement === null || activeElement === body) window.focus();
  }

  private tick(): void {
    const { live, seen, lostSince } = this.store.get();
    if (live && seen && lostSince === null) this.refresh();
  }

  private retry(): void {
    const { lostSince, seen } = this.store.get();
    if (lostSince === null || !seen) return;
    this.slots.retry(needsOf(this.store.get(), this.slots, this.client));
  }

  private writeLink(): void {
    const { location, history } = this.host;
    if (!isOurs(location.hash)) return;
    const hash = writeHash(location.hash, toParameters(this.view));
    if (hash !== location.hash) history.replaceState(history.state, "", hash);
  }

  private followLink(): void {
    if (!isOurs(this.host.location.hash)) return;
    const parameters = readHash(this.host.location.hash);
    // Coming back from another tab, TensorBoard drops our parameters: what is on show is what the user left.
    if (Object.keys(parameters).length === 0) this.writeLink();
    else this.store.set({ view: fromParameters(parameters) });
  }
}

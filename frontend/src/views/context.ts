/** How components reach the session and follow its stores. */

import { createContext } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { Actions } from "../store/actions";
import type { Session } from "../store/session";
import type { AppState, Cursor } from "../store/state";
import type { Store } from "../store/store";

export interface App {
  readonly session: Session;
  readonly actions: Actions;
}

export const AppContext = createContext<App | null>(null);

export function makeApp(session: Session): App {
  return { session, actions: new Actions(session) };
}

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error("A component of the page was rendered outside of it.");
  return app;
}

/** The picked part of a store; renders again when it changes. */
function useStore<T extends object, R>(store: Store<T>, pick: (value: T) => R): R {
  const [, render] = useState({});
  const picked = pick(store.get());
  const latest = useMemo(() => ({ pick, picked }), []);
  latest.pick = pick;
  latest.picked = picked;
  useEffect(() => {
    const look = () => {
      if (!Object.is(latest.pick(store.get()), latest.picked)) render({});
    };
    look(); // something may have changed between rendering and now
    return store.subscribe(look);
  }, [store]);
  return picked;
}

export function useAppState<R>(pick: (state: AppState) => R): R {
  return useStore(useApp().session.store, pick);
}

export function useCursor<R>(pick: (cursor: Cursor) => R): R {
  return useStore(useApp().session.cursor, pick);
}

/** Renders again when an answer arrives. Returns how many have. */
export function useArrivals(): number {
  return useStore(useApp().session.slots.arrivals, (arrivals) => arrivals.count);
}

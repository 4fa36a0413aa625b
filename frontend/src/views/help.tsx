import { useEffect, useRef } from "preact/hooks";
import type { RunsAnswer } from "../api/types";
import { HEALTH, HEALTH_MEANING, HEALTH_WORDS } from "../lib/states";
import { useApp, useAppState, useArrivals } from "./context";
import { Glyph } from "./glyph";
import { KEYS } from "./keys";

/** The words of the page explained, and its keys. */
export function Help() {
  const { session } = useApp();
  const open = useAppState((state) => state.help);
  useArrivals();
  const version = session.slots.value<RunsAnswer>("runs")?.version ?? "";
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open && dialog.current?.open === false) dialog.current.showModal();
    if (!open && dialog.current?.open === true) dialog.current.close();
  }, [open]);
  const close = () => session.store.set({ help: false });
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      {open && (
        <>
          <header>
            <h2 id="help-title">Grad Health {version}</h2>
            <button type="button" onClick={close}>
              Close
            </button>
          </header>
          <div class="help-columns">
            <section>
              <h3>What the states mean</h3>
              <dl>
                {HEALTH.map((state) => (
                  <div key={state}>
                    <dt>
                      <Glyph of={state} /> {HEALTH_WORDS[state]}
                    </dt>
                    <dd>{HEALTH_MEANING[state]}</dd>
                  </div>
                ))}
              </dl>
            </section>
            <section>
              <h3>Keys</h3>
              <dl class="keys">
                {KEYS.filter((key) => key.shown !== "").map((key) => (
                  <div key={key.shown}>
                    <dt>
                      {key.shown.split(" ").map((one) => (
                        <kbd key={one}>{one}</kbd>
                      ))}
                    </dt>
                    <dd>{key.does}</dd>
                  </div>
                ))}
              </dl>
              <h3>Mouse</h3>
              <p>
                Drag a box over the cells to rank the variables by how they differ in those steps. Drag with
                Shift to move, turn the wheel with Ctrl to zoom, double-click for all steps. A click on a cell
                shows the variable's details; drag over the curves to zoom to those steps.
              </p>
              <p>
                Delete a run's folder and it goes from this page. Where its files alone are deleted,
                TensorBoard's slower loader (<code>--load_fast=false</code>, and where there is no other)
                shows what it has read until it is started anew.
              </p>
              <p>
                Norms are taken before clipping. A cell shows the worst of the steps that it stands for, so
                nothing bad is ever averaged away.
              </p>
            </section>
          </div>
        </>
      )}
    </dialog>
  );
}

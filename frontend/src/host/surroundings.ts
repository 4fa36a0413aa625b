/** The page around the frame: its colours, its address, and whether anybody sees us. All of it may be out of reach. */

/** TensorBoard's window, or our own where there is none of the same origin. */
export function hostWindow(): Window {
  try {
    if (window.parent.location.origin === window.location.origin) return window.parent;
  } catch {
    // A parent of another origin: a frame of a notebook, say.
  }
  return window;
}

/** Calls back now and at every change. Returns a function that ends the watching. */
export function watchDark(host: Window, changed: (dark: boolean) => void): () => void {
  const preferred = window.matchMedia("(prefers-color-scheme: dark)");
  const inFrame = host !== window;
  const tell = () =>
    changed(inFrame ? host.document.body.classList.contains("dark-mode") : preferred.matches);
  const observer = new MutationObserver(tell);
  if (inFrame) observer.observe(host.document.body, { attributes: true, attributeFilter: ["class"] });
  else preferred.addEventListener("change", tell);
  tell();
  return () => {
    observer.disconnect();
    preferred.removeEventListener("change", tell);
  };
}

/** A tab of TensorBoard that is not shown has no height; a hidden browser tab says so itself. */
export function isSeen(): boolean {
  return !document.hidden && window.innerHeight > 0;
}

/** Calls back when the page may have come into sight. */
export function watchSeen(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  window.addEventListener("resize", changed);
  return () => {
    document.removeEventListener("visibilitychange", changed);
    window.removeEventListener("resize", changed);
  };
}

/** Signs for states and verdicts, drawn in a square of 16: the same on the page and on canvases, whatever fonts there are. */

import type { Health } from "../lib/states";

export interface Sign {
  readonly path: string;
  /** Line width; 0: the path is filled. */
  readonly stroke: number;
}

export const VERDICT_SIGNS: Readonly<Record<string, Sign>> = {
  unhealthy: { path: "M8 2.5 V9.2 M8 13.2 V13.3", stroke: 2.8 },
  watch: { path: "M1.2 8 C4 3.4 12 3.4 14.8 8 C12 12.6 4 12.6 1.2 8 M8 7.9 V8.1", stroke: 1.9 },
  healthy: { path: "M3 8.6 L6.6 12 L13 4.2", stroke: 2.4 },
  begun: { path: "M3 8 V8.1 M8 8 V8.1 M13 8 V8.1", stroke: 2.6 },
};

export const SIGNS: Readonly<Record<Health, Sign>> = {
  error: { path: "M9.2 1 L3 9.2 H7.4 L6.2 15 L13 6.6 H8.6 Z", stroke: 0 },
  nan: { path: "M3.5 3.5 L12.5 12.5 M12.5 3.5 L3.5 12.5", stroke: 2.8 },
  inf: { path: "M8 2 L15 14 L1 14 Z", stroke: 0 },
  none: { path: "M13 8 A5 5 0 1 1 3 8 A5 5 0 1 1 13 8 M3 13.2 L13 2.8", stroke: 1.8 },
  zero: { path: "M3 3 H13 V13 H3 Z", stroke: 0 },
  exploding: { path: "M3 13 L12.5 3.5 M6 3 H13 V10", stroke: 2.2 },
  vanishing: { path: "M3 3 L12.5 12.5 M13 6 V13 H6", stroke: 2.2 },
  spiking: { path: "M1 12.5 H5 L8 2.5 L11 12.5 H15", stroke: 2 },
  oscillating: { path: "M1 8 C3 0 6 0 8 8 S13 16 15 8", stroke: 2 },
  overflow: { path: "M8 3 L14 13.5 L2 13.5 Z", stroke: 1.8 },
  untracked: {
    path: "M3.5 8 A4.5 4.5 0 0 1 6 4 M10 4 A4.5 4.5 0 0 1 12.5 8 M11.5 11 A4.5 4.5 0 0 1 4.5 11",
    stroke: 2,
  },
  not_recorded: { path: "M4 8 H12", stroke: 1.8 },
  frozen: { path: "M8 2 V14 M2.8 5 L13.2 11 M13.2 5 L2.8 11", stroke: 1.7 },
  ok: { path: "M3 8.6 L6.6 12 L13 4.2", stroke: 2.2 },
};

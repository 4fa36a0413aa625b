/** Colours of what is painted on canvases. Measured for colour-blind safety; the page's own colours are in `tokens.css`. */

import type { PixelColours } from "../lib/raster";
import { State } from "../lib/states";

export interface Palette {
  readonly page: string;
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly surface: string;
  readonly band: string;
  readonly guide: string;
  /** Light end to dark end on a light page, the other way round on a dark one: small values stay near the page. */
  readonly ramp: readonly string[];
  readonly zero: string;
  /** Around zeros, where they would drown in the page. */
  readonly zeroEdge: string;
  readonly none: string;
  readonly noneHatch: string;
  readonly inf: string;
  readonly nan: string;
  readonly lines: readonly string[];
}

export const LIGHT: Palette = {
  page: "#f6f8fa",
  ink: "#17202a",
  muted: "#5a6776",
  grid: "#e3e8ed",
  surface: "#ffffff",
  band: "rgba(36, 102, 162, 0.10)",
  guide: "#7a4a00",
  ramp: ["#bfe5f5", "#5ea7d4", "#2466a2", "#0f2a5f"],
  zero: "#000000",
  zeroEdge: "#000000",
  none: "#8d8d8d",
  noneHatch: "#f1f1f1",
  inf: "#ff9100",
  nan: "#d50000",
  lines: ["#1c6dd0", "#0b7f6b", "#8a3fb8", "#a0641a", "#2f4858", "#b0357f", "#5b7c10", "#4d55d6"],
};

export const DARK: Palette = {
  page: "#12161b",
  ink: "#e8edf2",
  muted: "#9aa8b6",
  grid: "#29313a",
  surface: "#1a2027",
  band: "rgba(89, 181, 223, 0.13)",
  guide: "#f0b45a",
  ramp: ["#273c64", "#3375ac", "#59b5df", "#aff1ff"],
  zero: "#000000",
  zeroEdge: "#7d8894",
  none: "#8a8a8a",
  noneHatch: "#2a2a2a",
  inf: "#ffa000",
  nan: "#ff1744",
  lines: ["#6cb6ff", "#4fd1b5", "#cf9bf5", "#e0b070", "#b9c7d4", "#ff9ecf", "#b5d45c", "#a3a8ff"],
};

export function paletteOf(dark: boolean): Palette {
  return dark ? DARK : LIGHT;
}

const RAMP_STEPS = 256;

const made = new Map<Palette, PixelColours>();

export function pixelColours(palette: Palette): PixelColours {
  const known = made.get(palette);
  if (known !== undefined) return known;
  const states = new Uint32Array(6);
  states[State.zero] = packed(rgb(palette.zero));
  states[State.none] = packed(rgb(palette.none));
  states[State.inf] = packed(rgb(palette.inf));
  states[State.nan] = packed(rgb(palette.nan));
  const colours = {
    ramp: rampColours(palette.ramp.map(rgb)),
    states,
    noneHatch: packed(rgb(palette.noneHatch)),
    zeroEdge: packed(rgb(palette.zeroEdge)),
    aboveHigh: packed(rgb(palette.surface)),
    belowLow: packed(rgb(palette.ink)),
  };
  made.set(palette, colours);
  return colours;
}

/** For a CSS gradient. */
export function rampGradient(palette: Palette): string {
  return `linear-gradient(to right, ${palette.ramp.join(", ")})`;
}

type Rgb = readonly [number, number, number];

function rampColours(stops: readonly Rgb[]): Uint32Array {
  const colours = new Uint32Array(RAMP_STEPS);
  for (let i = 0; i < RAMP_STEPS; i++) {
    const at = (i / (RAMP_STEPS - 1)) * (stops.length - 1);
    const stop = Math.min(stops.length - 2, Math.floor(at));
    const t = at - stop;
    const mix = (k: number) => Math.round(stops[stop][k] * (1 - t) + stops[stop + 1][k] * t);
    colours[i] = packed([mix(0), mix(1), mix(2)]);
  }
  return colours;
}

function rgb(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function packed([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

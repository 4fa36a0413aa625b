/** Painting one row of cells into a pixel buffer. Knows colours as numbers, and no canvas. */

import type { Line } from "./binning";
import { type Domain, position } from "./scale";
import { State } from "./states";

/** Colours as canvas pixels hold them: 0xAABBGGRR. */
export interface PixelColours {
  /** From the low to the high end of the domain. */
  readonly ramp: Uint32Array;
  /** By state; a finite cell takes its colour from the ramp, one that was not recorded stays clear. */
  readonly states: Uint32Array;
  readonly noneHatch: number;
  readonly zeroEdge: number;
  /** A line along the top of a cell whose value is above the domain. */
  readonly aboveHigh: number;
  /** A line along the foot of a cell whose value is below the domain. */
  readonly belowLow: number;
}

/** Rows of a pixel buffer, top inclusive, bottom exclusive. */
interface Strip {
  readonly pixels: Uint32Array;
  /** Pixels in a row of the buffer. */
  readonly stride: number;
  readonly top: number;
  readonly bottom: number;
}

/** Colour of a finite value without a place on the ramp: only its state is known. */
const NO_VALUE = 0x40808080;

/** How and where a line is painted. */
export interface Painting {
  readonly colours: PixelColours;
  readonly domain: Domain;
  readonly strip: Strip;
  /** The device's pixels for one pixel of the page: hatches keep their looks on fine screens. */
  readonly dot: number;
}

export function paintLine(line: Line, painting: Painting): void {
  const { colours, domain, strip, dot } = painting;
  const { pixels, stride, top, bottom } = strip;
  if (bottom <= top) return;
  const width = Math.min(line.states.length, stride);
  const base = top * stride;
  for (let x = 0; x < width; x++) pixels[base + x] = cellColour(line, x, colours, domain);
  for (let y = top + 1; y < bottom; y++) pixels.copyWithin(y * stride, base, base + width);
  for (let x = 0; x < width; x++) {
    if (line.states[x] === State.none) hatchColumn(x, colours.noneHatch, strip, dot);
    else if (line.states[x] === State.zero) {
      pixels[base + x] = colours.zeroEdge;
      pixels[(bottom - 1) * stride + x] = colours.zeroEdge;
    } else if (line.states[x] === State.finite) markEnd(line.values[x], x, painting);
  }
}

function markEnd(value: number, x: number, { colours, domain, strip, dot }: Painting): void {
  const { pixels, stride, top, bottom } = strip;
  const thick = Math.min(Math.max(1, Math.round(2 * dot)), bottom - top);
  if (value > domain.high) {
    for (let y = top; y < top + thick; y++) pixels[y * stride + x] = colours.aboveHigh;
  } else if (value < domain.low) {
    for (let y = bottom - thick; y < bottom; y++) pixels[y * stride + x] = colours.belowLow;
  }
}

/** Stretches of one bad state at least `least` pixels wide, from left to right. */
export function badStretches(
  states: Uint8Array,
  least: number,
): { state: number; from: number; to: number }[] {
  const found = [];
  for (let from = 0, to = 0; from < states.length; from = to) {
    while (to < states.length && states[to] === states[from]) to++;
    if (states[from] > State.finite && to - from >= least) found.push({ state: states[from], from, to });
  }
  return found;
}

function cellColour(line: Line, x: number, colours: PixelColours, domain: Domain): number {
  const state = line.states[x];
  if (state === State.notRecorded) return 0;
  if (state !== State.finite) return colours.states[state];
  return rampColour(colours.ramp, position(line.values[x], domain));
}

/** The colour at 0…1 of the ramp. */
export function rampColour(ramp: Uint32Array, t: number): number {
  if (Number.isNaN(t)) return NO_VALUE;
  return ramp[Math.min(ramp.length - 1, Math.floor(t * ramp.length))];
}

function hatchColumn(x: number, colour: number, { pixels, stride, top, bottom }: Strip, dot: number): void {
  const period = Math.max(4, Math.round(5 * dot));
  const width = Math.max(1, Math.round(1.25 * dot));
  for (let y = top; y < bottom; y++) {
    if ((x + y) % period < width) pixels[y * stride + x] = colour;
  }
}

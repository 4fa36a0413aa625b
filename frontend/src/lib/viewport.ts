/**
 * The range of steps that is drawn, and its mapping to pixels.
 *
 * A step s covers [s, s + 1) of the step axis, so a view of the steps first…last has start = first and
 * end = last + 1. Immutable: every method returns a new view.
 */

/** Steps, both ends inclusive. */
export interface StepRange {
  readonly first: number;
  readonly last: number;
}

/** No view is narrower than this many steps: below, a cell would be wider than the page. */
const NARROWEST = 4;

export class Viewport {
  private constructor(
    readonly start: number,
    readonly end: number,
  ) {}

  static of(range: StepRange): Viewport {
    return new Viewport(range.first, Math.max(range.last, range.first) + 1);
  }

  get width(): number {
    return this.end - this.start;
  }

  /** The whole steps that are at least partly in view. */
  get range(): StepRange {
    return { first: Math.floor(this.start), last: Math.max(Math.floor(this.start), Math.ceil(this.end) - 1) };
  }

  /** Pixel of a position on the step axis. */
  x(position: number, pixels: number): number {
    return ((position - this.start) / this.width) * pixels;
  }

  /** Position on the step axis of a pixel. */
  position(x: number, pixels: number): number {
    return this.start + (x / pixels) * this.width;
  }

  /** The step under a pixel. */
  step(x: number, pixels: number): number {
    return Math.floor(this.position(x, pixels));
  }

  /** Factor below 1 zooms in; `anchor` stays where it is. */
  zoomed(factor: number, anchor: number, extent: StepRange): Viewport {
    const full = Viewport.of(extent);
    const width = Math.min(full.width, Math.max(Math.min(NARROWEST, full.width), this.width * factor));
    const start = anchor - ((anchor - this.start) / this.width) * width;
    return new Viewport(start, start + width).clamped(extent);
  }

  /** Moved by a share of its own width. */
  panned(share: number, extent: StepRange): Viewport {
    return this.moved(share * this.width, extent);
  }

  /** Moved by steps. */
  moved(by: number, extent: StepRange): Viewport {
    return new Viewport(this.start + by, this.end + by).clamped(extent);
  }

  /** Moved as little as needed so that a step is in view, with a margin of a tenth of the width. */
  revealing(step: number, extent: StepRange): Viewport {
    const margin = Math.min(this.width / 10, Math.max(0, this.width - 1) / 2);
    if (step < this.start) return this.moved(step - margin - this.start, extent);
    if (step + 1 > this.end) return this.moved(step + 1 + margin - this.end, extent);
    return this;
  }

  /** Inside the extent, as wide as before where that is possible. */
  clamped(extent: StepRange): Viewport {
    const full = Viewport.of(extent);
    if (this.width >= full.width) return full;
    const start = Math.min(Math.max(this.start, full.start), full.end - this.width);
    return new Viewport(start, start + this.width);
  }

  covers(other: StepRange): boolean {
    return this.start <= other.first && this.end >= other.last + 1;
  }

  equals(other: Viewport): boolean {
    return this.start === other.start && this.end === other.end;
  }
}

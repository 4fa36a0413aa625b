/** The heatmap and the curves as one picture, with names and verdict: for a report or a chat. */

import { asHealth } from "../lib/states";
import { SIGNS, VERDICT_SIGNS } from "../theme/glyphs";
import { paletteOf } from "../theme/palette";

const MARGIN = 20;
const HEAD = 64;
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** Draws what is on the page: every canvas where it stands, and the texts of names, ticks and runs. */
export async function pictureOf(page: HTMLElement, sentence: string, dark: boolean): Promise<Blob | null> {
  const dot = Math.max(2, window.devicePixelRatio || 1);
  const bounds = page.getBoundingClientRect();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((bounds.width + 2 * MARGIN) * dot);
  canvas.height = Math.round((bounds.height + 2 * MARGIN + HEAD) * dot);
  const context = canvas.getContext("2d");
  if (context === null) return null;
  const palette = paletteOf(dark);
  context.scale(dot, dot);
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = palette.ink;
  context.font = `600 18px ${FONT}`;
  context.textBaseline = "middle";
  wrapped(context, sentence, bounds.width).forEach((line, i) => {
    context.fillText(line, MARGIN, MARGIN + 12 + i * 24);
  });
  context.translate(MARGIN - bounds.left, MARGIN + HEAD - bounds.top);
  for (const part of page.querySelectorAll("canvas")) {
    const place = part.getBoundingClientRect();
    if (place.width > 0 && part.width > 0)
      context.drawImage(part, place.left, place.top, place.width, place.height);
  }
  const seen = page.querySelector(".heat-scroll")?.getBoundingClientRect();
  for (const element of page.querySelectorAll<HTMLElement>(".swatch, .lane-bar, .line-toggle.drawn"))
    drawMark(context, element, seen);
  for (const element of page.querySelectorAll<HTMLElement>(
    ".name, .tick, .lane-label, .axis-label, .run-head, .legend-value, .legend-band span, .extra-label",
  )) {
    drawText(context, element, seen, palette.ink);
  }
  for (const element of page.querySelectorAll<SVGElement>("svg.glyph")) drawSign(context, element, seen);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function drawText(
  context: CanvasRenderingContext2D,
  element: HTMLElement,
  seen: DOMRect | undefined,
  colour: string,
): void {
  const place = element.getBoundingClientRect();
  if (hidden(element, place, seen)) return;
  const style = getComputedStyle(element);
  context.save();
  context.beginPath();
  context.rect(place.left, place.top - 2, place.width + 1, place.height + 4);
  context.clip();
  context.font = `${style.fontWeight} ${style.fontSize} ${FONT}`;
  context.fillStyle = style.color || colour;
  context.fillText(
    fitted(context, element.textContent ?? "", place.width),
    place.left,
    place.top + place.height / 2,
  );
  context.restore();
}

/** What tells a curve's colour, and the bars of incidents. */
function drawMark(context: CanvasRenderingContext2D, element: HTMLElement, seen: DOMRect | undefined): void {
  const place = element.getBoundingClientRect();
  if (hidden(element, place, seen)) return;
  const dot = element.style.getPropertyValue("--line-colour");
  context.fillStyle = dot || getComputedStyle(element).backgroundColor;
  context.beginPath();
  if (dot === "") context.rect(place.left, place.top, place.width, place.height);
  else context.arc(place.left + place.width / 2, place.top + place.height / 2, 4, 0, 2 * Math.PI);
  context.fill();
}

function drawSign(context: CanvasRenderingContext2D, element: SVGElement, seen: DOMRect | undefined): void {
  const place = element.getBoundingClientRect();
  if (hidden(element, place, seen)) return;
  const health = /glyph-(\w+)/.exec(element.getAttribute("class") ?? "")?.[1] ?? "";
  const { path, stroke } = VERDICT_SIGNS[health] ?? SIGNS[asHealth(health)];
  context.save();
  context.translate(place.left, place.top);
  context.scale(place.width / 16, place.height / 16);
  context.fillStyle = context.strokeStyle = getComputedStyle(element).color;
  context.lineWidth = stroke;
  context.lineCap = context.lineJoin = "round";
  if (stroke === 0) context.fill(new Path2D(path));
  else context.stroke(new Path2D(path));
  context.restore();
}

function hidden(element: Element, place: DOMRect, seen: DOMRect | undefined): boolean {
  if (place.width === 0) return true;
  if (seen === undefined || element.closest(".heat-scroll") === null) return false;
  return place.top < seen.top - 1 || place.bottom > seen.bottom + 1;
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width + 1) return text;
  let tail = text;
  while (tail.length > 1 && context.measureText(`…${tail}`).width > width) tail = tail.slice(1);
  return `…${tail}`;
}

function wrapped(context: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (context.measureText(longer).width > width && lines.length < 2) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

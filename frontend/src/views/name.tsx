import { cutName } from "../lib/format";

const SIZE = 12.5;
const pens = new Map<boolean, CanvasRenderingContext2D>();

/** A name in a column of some pixels: what does not fit is cut out of its middle. Who listens hears all of it. */
export function Name({ text, width, bold = false }: { text: string; width: number; bold?: boolean }) {
  const { head, hidden, tail } = cutName(text, width, (part) => pen(bold).measureText(part).width);
  return (
    <span class="name">
      {head}
      {hidden !== "" && <span class="sr-only">{hidden}</span>}
      <span class={hidden === "" ? "name-tail" : "name-tail cut"}>{tail}</span>
    </span>
  );
}

/** A canvas knows the widths of letters without laying out the page. */
function pen(bold: boolean): CanvasRenderingContext2D {
  const known = pens.get(bold);
  if (known !== undefined) return known;
  const made = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  made.font = `${bold ? 600 : 400} ${SIZE}px ${getComputedStyle(document.body).fontFamily}`;
  pens.set(bold, made);
  return made;
}

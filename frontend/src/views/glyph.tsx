import { asHealth, healthWord } from "../lib/states";
import { SIGNS } from "../theme/glyphs";

/** The sign of a state, in the state's colour. With `say` it is read out; else the words beside it do that. */
export function Glyph({ of, say = false, size = 14 }: { of: string; say?: boolean; size?: number }) {
  const health = asHealth(of);
  const { path, stroke } = SIGNS[health];
  const label = say ? { role: "img" as const, "aria-label": healthWord(of) } : { "aria-hidden": true as const };
  return (
    <svg class={`glyph glyph-${health}`} width={size} height={size} viewBox="0 0 16 16" {...label}>
      <path
        d={path}
        fill={stroke === 0 ? "currentColor" : "none"}
        stroke={stroke === 0 ? "none" : "currentColor"}
        stroke-width={stroke}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

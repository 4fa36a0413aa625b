import { asHealth, healthWord } from "../lib/states";
import { SIGNS, type Sign, VERDICT_SIGNS } from "../theme/glyphs";

/** The sign of a state, in the state's colour. With `say` it is read out; else the words beside it do that. */
export function Glyph({ of, say = false, size = 14 }: { of: string; say?: boolean; size?: number }) {
  const label = say ? healthWord(of) : null;
  return <Drawn sign={SIGNS[asHealth(of)]} name={asHealth(of)} label={label} size={size} />;
}

/** The sign of a verdict: another than any state's. */
export function VerdictGlyph({ of, size = 13 }: { of: string | null; size?: number }) {
  const verdict = of ?? "begun";
  return (
    <Drawn sign={VERDICT_SIGNS[verdict] ?? VERDICT_SIGNS.begun} name={verdict} label={null} size={size} />
  );
}

function Drawn({
  sign,
  name,
  label,
  size,
}: {
  sign: Sign;
  name: string;
  label: string | null;
  size: number;
}) {
  const { path, stroke } = sign;
  const role =
    label === null ? { "aria-hidden": true as const } : { role: "img" as const, "aria-label": label };
  return (
    <svg class={`glyph glyph-${name}`} width={size} height={size} viewBox="0 0 16 16" {...role}>
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

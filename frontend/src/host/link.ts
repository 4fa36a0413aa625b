/**
 * Deep links: our part of the address that the user sees, `#gradhealth&p.gradhealth.run=…`.
 *
 * TensorBoard owns the rest of it and may rewrite it, so it is read once, and written whole each time.
 */

const PLUGIN = "gradhealth";
const PREFIX = `p.${PLUGIN}.`;

/** Our parameters in a hash. */
export function readHash(hash: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const key = decode(part.slice(0, equals));
    if (key.startsWith(PREFIX)) found[key.slice(PREFIX.length)] = decode(part.slice(equals + 1));
  }
  return found;
}

/** The hash with our parameters replaced, everybody else's kept. */
export function writeHash(hash: string, parameters: Readonly<Record<string, string>>): string {
  const others = hash
    .replace(/^#/, "")
    .split("&")
    .filter((part) => part !== "" && !decode(part).startsWith(PREFIX));
  if (others.length === 0) others.push(PLUGIN);
  const ours = Object.entries(parameters).map(
    ([key, value]) => `${PREFIX}${key}=${encodeURIComponent(value)}`,
  );
  return `#${[...others, ...ours].join("&")}`;
}

/** Whether the address shows our tab: only then is it ours to write. */
export function isOurs(hash: string): boolean {
  const tab = hash.replace(/^#/, "").split("&")[0];
  return tab === PLUGIN || tab === "";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

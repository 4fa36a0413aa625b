// Folders are layers: each may import only from itself and from those listed.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const MAY_IMPORT = {
  lib: [],
  api: ["lib"],
  host: ["lib"],
  theme: ["lib"],
  store: ["api", "host", "lib"],
  views: ["api", "host", "lib", "store", "theme"],
};
const PACKAGES = {
  lib: [],
  api: [],
  host: [],
  theme: [],
  store: [],
  views: ["preact", "preact/hooks"],
};
const MAX_LINES = 300;
const source = fileURLToPath(new URL("../src", import.meta.url));
const wrong = [];
for (const layer of Object.keys(MAY_IMPORT)) {
  for (const name of readdirSync(join(source, layer))) {
    if (!/\.tsx?$/.test(name)) continue;
    const text = readFileSync(join(source, layer, name), "utf8");
    const lines = text.split("\n").length;
    if (lines > MAX_LINES)
      wrong.push(`${layer}/${name} has ${lines} lines, more than ${MAX_LINES}: split it`);
    for (const [, target] of text.matchAll(/^(?:import|export)[^;]*?from "([^"]+)"/gms)) {
      if (target.startsWith(".")) {
        const other = normalize(join(layer, dirname(name), target)).split("/")[0];
        if (other !== layer && !MAY_IMPORT[layer].includes(other))
          wrong.push(`${layer}/${name} imports ${target}`);
      } else if (!PACKAGES[layer].includes(target)) {
        wrong.push(`${layer}/${name} imports the package ${target}`);
      }
    }
  }
}
for (const line of wrong) console.error(line);
process.exit(wrong.length > 0 ? 1 : 0);

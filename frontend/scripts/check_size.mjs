// The built page must stay small: TensorBoard users open it over slow tunnels.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 60 * 1024;
const file = new URL("../../tb_gradhealth/serve/static/index.js", import.meta.url);
const source = readFileSync(file);
const size = gzipSync(source, { level: 9 }).length;
console.log(`index.js: ${source.length} bytes, ${size} gzipped, limit ${LIMIT}`);
if (size > LIMIT) {
  console.error(
    `The bundle is ${size - LIMIT} bytes over its limit. Remove something, or argue the number here.`,
  );
  process.exit(1);
}
if (!/export\s*\{[^}]*\brender\b/.test(source.toString())) {
  console.error("index.js does not export render(): TensorBoard calls it.");
  process.exit(1);
}

import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** One ES module with its styles inside: TensorBoard imports `index.js` and calls `render()`. */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../tb_gradhealth/serve/static", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      input: fileURLToPath(new URL("src/index.ts", import.meta.url)),
      preserveEntrySignatures: "strict",
      output: { format: "es", entryFileNames: "index.js", codeSplitting: false },
    },
  },
});

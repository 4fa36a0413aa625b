import { defineConfig } from "vitest/config";

/** Apart from the build's configuration, which must load where only what the build needs is installed. */
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
});

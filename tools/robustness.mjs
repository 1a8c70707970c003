// Runs the robustness runner: `node tools/robustness.mjs --rounds N [--seed S]` (see test/robustness/README.md).
import { runBundled } from "./bundled.mjs";

await runBundled("test/robustness/main.ts", process.argv.slice(2));

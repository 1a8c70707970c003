// Bundles and runs the comparison with a reference server (see test/reference/main.ts).
import { runBundled } from "./bundled.mjs";

await runBundled("test/reference/main.ts", process.argv.slice(2));

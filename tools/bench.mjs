// Bundles and runs a bench: `node tools/bench.mjs api|custom|dns|flood|ingress|network-memory|node|policies|restart|service-changes|services|turns|waits [options]` (see test/bench/<name>/main.ts).
import { runBundled } from "./bundled.mjs";

const [name = "api", ...args] = process.argv.slice(2);
await runBundled(`test/bench/${name}/main.ts`, args);

// Builds the program: cli/main.ts → dist/orbit.js (what bin/* start), index.ts → dist/index.js (the library) and the code of
// worker threads, as ES modules for Node 20 with shared chunks, so that what is imported dynamically costs nothing until
// it is used.
//   node tools/build.mjs [--types] [--out DIR] [--crash-points]
// --types: also DIR/types/*.d.ts for users of the library; DIR: dist; --crash-points: keep them, for test/robustness
// Only syntax is shortened: names and lines stay, so stack traces are readable, and V8 starts no faster from less text.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(
  readFileSync(path.join(root, "package.json"), "utf8"),
);

/** Native addons, and packages that start workers or children from files of their own: loaded from node_modules. */
const external = [
  "dockerode",
  "ssh2",
  "cpu-features",
  "node-cron",
  "systeminformation",
  "fsevents",
  "bufferutil",
  "utf-8-validate",
];

/** JSON tables as text parsed when first needed: JSON.parse is several times faster than the same object literal. */
const jsonAsText = {
  name: "json-as-text",
  setup({ onLoad }) {
    onLoad({ filter: /\.json$/ }, ({ path: file }) => {
      const text = JSON.stringify(JSON.parse(readFileSync(file, "utf8")));
      if (text.length < 4096) return undefined;
      return {
        contents: `export default JSON.parse(${JSON.stringify(text)});`,
        loader: "js",
      };
    });
  },
};

/**
 * A CommonJS package imported dynamically would come as its default export only: a small module in between names its
 * exports, as Node's own loader finds them.
 */
const namedLazyPackages = {
  name: "named-lazy-packages",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[^./]/ }, ({ path: name, kind, resolveDir }) => {
      const known = external.includes(name) || isBuiltin(name);
      return kind === "dynamic-import" && !known
        ? { path: name, namespace: "lazy-package", pluginData: { resolveDir } }
        : undefined;
    });
    onLoad(
      { filter: /.*/, namespace: "lazy-package" },
      async ({ path: name, pluginData: { resolveDir } }) => {
        const all = Object.keys(await import(name));
        const names = all.filter(
          (each) =>
            each !== "default" &&
            /^[A-Za-z_$][\w$]*$/.test(each) &&
            each !== "module.exports",
        );
        const lines = names.map(
          (each) =>
            `const own_${each} = all[${JSON.stringify(each)}];\nexport { own_${each} as ${each} };`,
        );
        return {
          contents: `import * as all from ${JSON.stringify(name)};\n${lines.join("\n")}${all.includes("default") ? "\nexport default all.default;" : ""}`,
          resolveDir,
          loader: "js",
        };
      },
    );
  },
};

/** The product holds no crash points (api/crash-point.ts): the calls go, and the module with them. */
const noCrashPoints = {
  name: "no-crash-points",
  setup({ onLoad }) {
    onLoad({ filter: /\/(storage|agent)\/.*\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, "utf8");
      if (file.includes("/node_modules/") || !text.includes("crashPoint("))
        return undefined;
      return {
        contents: text.replace(/^\s*crashPoint\("[\w.]+"\);$/gm, ""),
        loader: "ts",
      };
    });
  },
};

const started = performance.now();
const out = process.argv.indexOf("--out");
const dist = path.resolve(root, out > 0 ? process.argv[out + 1] : "dist");
const fresh = `${dist}.${process.pid}.tmp`;
const entryPoints = {
  orbit: path.join(root, "cli/main.ts"),
  index: path.join(root, "index.ts"),
  "snapshot-worker": path.join(root, "storage/snapshots/snapshot-worker.ts"),
  "dns-worker": path.join(root, "network/dns/dns-worker.ts"),
  "yaml-worker": path.join(root, "apiserver-lite/serving/yaml/yaml-worker.ts"),
  "manifest-worker": path.join(root, "agent/sources/manifest-worker.ts"),
  "ingress-worker": path.join(root, "network/ingress/ingress-worker.ts"),
};
try {
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: fresh,
    bundle: true,
    minifySyntax: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    chunkNames: "chunks/[name]-[hash]",
    external,
    plugins: [
      jsonAsText,
      ...(process.argv.includes("--crash-points") ? [] : [noCrashPoints]),
      namedLazyPackages,
    ],
    define: { ORBIT_VERSION: JSON.stringify(version) },
    banner: {
      // Bundled CommonJS packages call require() for Node's own modules.
      js: 'import { createRequire as __orbitCreateRequire } from "node:module"; const require = __orbitCreateRequire(import.meta.url);',
    },
    legalComments: "none",
    logLevel: "warning",
    sourcemap: false,
  });
} catch {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(1);
}
// V8 keeps a text with a single character beyond Latin-1, be it in a comment, at two bytes a character, 3.5 MiB in all. Where
// esbuild leaves such characters (comments, regular expressions) an escape means the same.
for (const name of readdirSync(fresh, { recursive: true })) {
  const file = path.join(fresh, name);
  if (!name.endsWith(".js")) continue;
  const text = readFileSync(file, "utf8");
  const narrow = text.replace(
    /[\u0100-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  if (narrow !== text) writeFileSync(file, narrow);
}
// A running program may still load chunks of the build before: their names hold their hashes, so the new ones go beside
// them, and only what no build of the last day made is removed.
const chunks = path.join(dist, "chunks");
mkdirSync(chunks, { recursive: true });
const made = new Set(readdirSync(path.join(fresh, "chunks")));
for (const name of made)
  renameSync(path.join(fresh, "chunks", name), path.join(chunks, name));
for (const name of Object.keys(entryPoints))
  renameSync(path.join(fresh, `${name}.js`), path.join(dist, `${name}.js`));
for (const name of readdirSync(chunks)) {
  const file = path.join(chunks, name);
  if (!made.has(name) && Date.now() - statSync(file).mtimeMs > 86_400_000)
    rmSync(file, { force: true });
}
rmSync(fresh, { recursive: true, force: true });
console.log(
  `built ${path.relative(root, dist)}/ in ${((performance.now() - started) / 1000).toFixed(2)} s`,
);

if (process.argv.includes("--types")) {
  const tsc = path.join(root, "node_modules/typescript-go/bin/tsc");
  const types = path.join(dist, "types");
  rmSync(types, { recursive: true, force: true });
  const options = [
    "-p",
    path.join(root, "tsconfig.types.json"),
    "--outDir",
    types,
  ];
  const { status } = spawnSync(process.execPath, [tsc, ...options], {
    stdio: "inherit",
    cwd: root,
  });
  process.exit(status ?? 1);
}

// Writes docs/options.md from the option tables (cli/options/). --check: only says whether it is up to date.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import prettier from "prettier";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bundle = path.join(root, `dist.${process.pid}.tmp.mjs`);
await build({
  absWorkingDir: root,
  entryPoints: ["cli/options/reference.ts"],
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
});
const { optionsReference } = await import(pathToFileURL(bundle).href).finally(
  () => rmSync(bundle),
);
const text = await prettier.format(optionsReference(), { parser: "markdown" });
const file = path.join(root, "docs/options.md");
if (process.argv.includes("--check")) {
  if (readFileSync(file, "utf8") !== text) {
    console.error(
      "docs/options.md is out of date: node tools/generate-options-doc.mjs",
    );
    process.exit(1);
  }
} else {
  writeFileSync(file, text);
  console.log(`wrote ${file}`);
}

// Writes docs/POD-FIELDS.md from tools/pod-fields/table.ts and the code. --check: only says whether it is up to date.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import prettier from "prettier";
import { podFieldsDocument } from "./pod-fields/document.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bundle = path.join(root, `dist.${process.pid}.tmp.mjs`);
await build({
  absWorkingDir: root,
  entryPoints: ["tools/pod-fields/table.ts"],
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
});
const { sections } = await import(pathToFileURL(bundle).href).finally(() =>
  rmSync(bundle),
);
const text = await prettier.format(podFieldsDocument(root, sections), {
  parser: "markdown",
});
const file = path.join(root, "docs/POD-FIELDS.md");
if (!process.argv.includes("--check")) {
  writeFileSync(file, text);
  console.log(`wrote ${file}`);
} else if (readFileSync(file, "utf8") !== text) {
  console.error(
    "docs/POD-FIELDS.md is out of date: node tools/generate-pod-fields.mjs",
  );
  process.exitCode = 1;
}

// Writes docs/options.md and the options' part of docs/COMPATIBILITY.md from the option tables (cli/options/).
// --check: only says whether they are up to date.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import prettier from "prettier";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bundle = path.join(root, `dist.${process.pid}.tmp.mjs`);
await build({
  absWorkingDir: root,
  stdin: {
    contents: `export * from "./cli/options/reference.ts"; export * from "./cli/options/compatibility.ts";`,
    resolveDir: root,
    loader: "ts",
  },
  outfile: bundle,
  bundle: true,
  format: "esm",
  platform: "node",
});
const { optionsReference, optionCompatibility } = await import(
  pathToFileURL(bundle).href
).finally(() => rmSync(bundle));

/** The text between the marks, replaced. */
function withOptions(text) {
  const [before, rest] = text.split(/(?<=<!-- options -->)/);
  const after = rest?.split(/(?=<!-- end of options -->)/)[1];
  if (after === undefined) throw new Error("the marks are missing");
  return `${before}\n\n${optionCompatibility()}\n${after}`;
}

const markdown = (text) => prettier.format(text, { parser: "markdown" });
const compatibility = path.join(root, "docs/COMPATIBILITY.md");
const files = [
  [path.join(root, "docs/options.md"), await markdown(optionsReference())],
  [
    compatibility,
    await markdown(withOptions(readFileSync(compatibility, "utf8"))),
  ],
];
for (const [file, text] of files) {
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
    console.log(`wrote ${file}`);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(
      `${path.relative(root, file)} is out of date: node tools/generate-options-doc.mjs`,
    );
    process.exitCode = 1;
  }
}

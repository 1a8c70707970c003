// Crash points (api/crash-point.ts) are in the sources and not in the product.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { useTempDirectories } from "../../support/temp-directory.ts";

const root = path.join(__dirname, "../../..");
const tempDirectory = useTempDirectories();

const filesOf = (directory: string): string[] =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

test("the built program holds no crash point", () => {
  const out = path.join(tempDirectory(), "dist");
  execFileSync(process.execPath, ["tools/build.mjs", "--out", out], {
    cwd: root,
    stdio: "pipe",
  });
  const texts = filesOf(out).map((file) => fs.readFileSync(file, "utf8"));
  // What is built is the file store, and no call of the sources was left or torn.
  expect(texts.some((text) => text.includes("can't compact the store"))).toBe(
    true,
  );
  expect(texts.filter((text) => /crashPoint/i.test(text))).toEqual([]);
});

test("each crash point has a name of its own", () => {
  const names = ["storage", "agent"]
    .flatMap((room) => filesOf(path.join(root, room)))
    .flatMap((file) => [
      ...fs.readFileSync(file, "utf8").matchAll(/\bcrashPoint\("([^"]+)"\)/g),
    ])
    .map((match) => match[1]);
  expect(names).toContain("store.append.durable");
  expect(new Set(names).size).toBe(names.length);
});

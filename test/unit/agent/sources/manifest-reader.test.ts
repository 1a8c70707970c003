// What lies in a directory of manifests and is none.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { readManifestFile } from "../../../../agent/sources/manifest-reader.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const kinds = async (file: string): Promise<readonly unknown[]> =>
  (await readManifestFile(file, ({ kind }) => kind)).taken;

test("a pipe without another end is refused at once, a file beside it is read", async () => {
  const directory = directories();
  const pipe = path.join(directory, "pipe.yaml");
  const file = path.join(directory, "file.yaml");
  execFileSync("mkfifo", [pipe]);
  fs.writeFileSync(
    file,
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
  );
  // More than this process has threads for files.
  await Promise.all(
    Array.from({ length: 8 }, () =>
      expect(kinds(pipe)).rejects.toThrow("is not a regular file"),
    ),
  );
  expect(await kinds(file)).toEqual(["ConfigMap"]);
});

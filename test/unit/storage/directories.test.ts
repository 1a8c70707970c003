import * as fs from "node:fs";
import * as path from "node:path";
import { makeDirectories } from "../../../storage/file/directories.ts";
import { nodeFileSystem } from "../../../storage/file/file-system.ts";
import {
  faultyFileSystem,
  ioError,
  type FileCall,
} from "../../support/faulty-file-system.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();

it("makes what an ended process made, but did not sync, durable", async () => {
  const parent = tempDirectory();
  const directory = path.join(parent, "data", "store");
  const ended = faultyFileSystem(nodeFileSystem, ({ name }: FileCall) => {
    if (name === "sync") throw ioError("EIO");
  });
  await expect(makeDirectories(ended, directory)).rejects.toMatchObject({
    code: "EIO",
  });
  fs.mkdirSync(directory, { recursive: true });
  const synced: string[] = [];
  const recording = faultyFileSystem(nodeFileSystem, ({ name, file }) => {
    if (name === "sync") synced.push(file);
  });
  await makeDirectories(recording, directory);
  expect(synced).toEqual([path.join(parent, "data"), parent]);
});

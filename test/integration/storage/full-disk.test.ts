// A real full file system (a small tmpfs; needs root): writes fail with "full", reads go on, and room makes it well.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createFileStore } from "../../../storage/file/file-store.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

let mount: string;

beforeAll(() => {
  mount = makeTempDirectory();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", mount]);
});
afterAll(() => {
  execFileSync("umount", [mount]);
  removeTempDirectory(mount);
});

it("survives a full disk", async () => {
  const ballast = path.join(mount, "ballast");
  fs.writeFileSync(ballast, Buffer.alloc(512 * 1024));
  const directory = path.join(mount, "store");
  const store = createFileStore({ directory });
  await store.start();
  const write = (key: string) =>
    store.write({
      key,
      expectedRevision: undefined,
      encode: () => Buffer.alloc(10_000, key),
    });
  const kept: string[] = [];
  let failure: unknown;
  for (let i = 0; i < 200 && !failure; i++) {
    await write(`/k${i}`).then(
      () => kept.push(`/k${i}`),
      (error: unknown) => (failure = error),
    );
  }
  expect(failure).toMatchObject({ name: "StoreError", code: "full" });
  expect(kept.length).toBeGreaterThan(10);
  await expect(store.healthy()).rejects.toMatchObject({ code: "full" });
  expect((await store.list("/")).values).toHaveLength(kept.length);
  fs.rmSync(ballast);
  const result = await write("/after");
  expect(result.ok).toBe(true);
  await store.healthy();
  await store.stop();
  const again = createFileStore({ directory });
  await again.start();
  expect((await again.list("/")).values.map(({ key }) => key).sort()).toEqual(
    [...kept, "/after"].sort(),
  );
  await again.stop();
});

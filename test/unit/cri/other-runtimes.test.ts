// A runtime that speaks CRI and is not containerd, CRI-O for instance: what needs containerd's own services is left out or
// refused by name, and nothing else fails.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Connection } from "../../../cri/containerd/connection.ts";
import { importImageArchive } from "../../../cri/containerd/image-import.ts";
import { PinnedImages } from "../../../cri/containerd/pinned-images.ts";
import { RuntimeError } from "../../../cri/runtime.ts";
import { buildSandboxImage } from "../../../cri/sandbox-image/image.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

function connection(
  code: RuntimeError["code"],
): Connection & { calls: number } {
  const made = {
    calls: 0,
    service() {
      made.calls++;
      return Promise.reject(
        new RuntimeError(code, "unknown service containerd.services"),
      );
    },
  };
  return made as never;
}

test("no image is pinned by a label that the runtime does not know, and it is asked once", async () => {
  const other = connection("unsupported");
  const pinned = new PinnedImages(other, new FakeClock());
  expect(await pinned.names()).toEqual(new Set());
  pinned.forget();
  expect(await pinned.names()).toEqual(new Set());
  expect(other.calls).toBe(1);
});

test("a failure of containerd is none of another runtime", async () => {
  const pinned = new PinnedImages(connection("unavailable"), new FakeClock());
  await expect(pinned.names()).rejects.toMatchObject({ code: "unavailable" });
});

test("an import is refused by name", async () => {
  const file = path.join(directories(), "pause.tar");
  fs.writeFileSync(file, buildSandboxImage().tar);
  await expect(
    importImageArchive(connection("unsupported"), file, {
      pinned: false,
      leaseId: "lease",
    }),
  ).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("takes no image archives") as string,
  });
});

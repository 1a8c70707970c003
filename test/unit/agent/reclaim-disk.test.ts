// What is removed, and in which order, when a file system is short.
import pino from "pino";
import { reclaimDisk } from "../../../agent/node/reclaim-disk.ts";
import type { Garbage } from "../../../eviction/disk-layout.ts";

async function reclaimed(garbage: Garbage): Promise<string[]> {
  const calls: string[] = [];
  await reclaimDisk(
    {
      containers: {
        collect(those) {
          calls.push(`containers: ${those}`);
          return Promise.reject(new Error("busy"));
        },
      },
      images: {
        collect(force) {
          calls.push(`images: ${force}`);
          return Promise.reject(new Error("busy"));
        },
      },
      logger: pino({ level: "silent" }),
    },
    garbage,
  );
  return calls;
}

test("ended containers go before the images that they hold", async () => {
  expect(await reclaimed({ containers: true, images: true })).toEqual([
    "containers: over",
    "images: true",
  ]);
  expect(await reclaimed({ containers: true, images: false })).toEqual([
    "containers: over",
  ]);
});

test("for images alone, containers go only of pods that ended for that", async () => {
  expect(await reclaimed({ containers: false, images: true })).toEqual([
    "containers: evicted",
    "images: true",
  ]);
});

test("where nothing lies, nothing goes", async () => {
  expect(await reclaimed({ containers: false, images: false })).toEqual([]);
});

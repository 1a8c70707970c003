// Lines about pulls that take long.
import { Writable } from "node:stream";
import pino from "pino";
import { PullProgress } from "../../../../agent/images/pull-progress.ts";
import type { Download } from "../../../../cri/usage.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("a line each ten seconds while something is pulled, none before and after", async () => {
  const lines: Record<string, unknown>[] = [];
  const clock = new FakeClock();
  let asked = 0;
  let downloads: Download[] | undefined = [
    { name: "layer-1", doneBytes: 10, totalBytes: 40 },
    { name: "layer-2", doneBytes: 5, totalBytes: 0 },
  ];
  const progress = new PullProgress({
    runtime: {
      downloads() {
        asked++;
        return downloads
          ? Promise.resolve(downloads)
          : Promise.reject(new Error("away"));
      },
    },
    clock,
    logger: pino(
      { base: null },
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
          done();
        },
      }),
    ),
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise(setImmediate);
  };
  progress.begin("quick")();
  await pass(60_000);
  expect(asked).toBe(0);
  const first = progress.begin("a:1");
  await pass(5_000);
  const second = progress.begin("b:1");
  await pass(5_000);
  expect(lines).toEqual([
    expect.objectContaining({
      images: ["a:1", "b:1"],
      seconds: 10,
      parts: 2,
      doneBytes: 15,
      totalBytes: 40,
      msg: "pulling images",
    }),
  ]);
  first();
  downloads = undefined;
  await pass(10_000);
  expect(lines[1]).toMatchObject({ images: ["b:1"], seconds: 15, parts: 0 });
  second();
  await pass(60_000);
  expect(lines).toHaveLength(2);
  expect(asked).toBe(2);
});

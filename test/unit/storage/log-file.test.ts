// One append-only file, with each of its calls failing in turn.
import * as fs from "node:fs";
import * as path from "node:path";
import { nodeFileSystem } from "../../../storage/file/file-system.ts";
import type { OpenFile } from "../../../storage/file/file-system.ts";
import {
  asStoreError,
  createLog,
  LogFile,
} from "../../../storage/file/log-file.ts";
import { StoreError } from "../../../storage/store.ts";
import { faultyFileSystem } from "../../support/faulty-file-system.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const frames = ["one", "second", "the third"].map((text) => Buffer.from(text));

const failure = (code: string): Error =>
  Object.assign(new Error(code), { code });

/** A log of which `fail` says, call by call, what fails. */
async function logWith(fail: (call: string) => string | undefined) {
  const file = path.join(tempDirectory(), "log");
  const calls: string[] = [];
  const log = await createLog(
    faultyFileSystem(nodeFileSystem, ({ name }) => {
      calls.push(name);
      const code = fail(name);
      if (code) throw failure(code);
    }),
    file,
  );
  return { log, calls, text: () => fs.readFileSync(file, "utf8") };
}

test("appends each frame behind the last, durably, and only for the owner", async () => {
  const { log, calls, text } = await logWith(() => undefined);
  for (const frame of frames) await log.append(frame);
  expect(text()).toBe("onesecondthe third");
  expect(log.bytes).toBe(text().length);
  expect(calls.filter((call) => call === "durableWrite")).toHaveLength(3);
  expect(calls.filter((call) => call === "durable")).toHaveLength(1);
  await log.close();
  expect(calls.filter((call) => call === "close")).toHaveLength(2);
});

test("a file under construction is durable after one sync", async () => {
  const { log, calls, text } = await logWith(() => undefined);
  for (const frame of frames) await log.appendUnsynced(frame);
  expect(calls).not.toContain("datasync");
  await log.sync();
  expect(calls.at(-1)).toBe("datasync");
  expect([text(), log.bytes]).toEqual(["onesecondthe third", 18]);
  await log.close();
});

test.each(["durable", "durableWrite"])(
  "a failing %s leaves the file as it was, and the next append works",
  async (broken) => {
    let fails = false;
    const { log, text } = await logWith((call) =>
      fails && call === broken ? "EIO" : undefined,
    );
    if (broken === "durableWrite") await log.append(frames[0]!);
    const before = text();
    fails = true;
    await expect(log.append(frames[1]!)).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(text()).toBe(before);
    fails = false;
    await log.append(frames[2]!);
    expect(text()).toBe(`${before}the third`);
    await log.close();
  },
);

test("bytes that could not be cut off are cut off before the next append", async () => {
  const { file, ...inner } = await halfWriting();
  const log = new LogFile(inner.handle, 0);
  await log.append(frames[0]!);
  inner.state.halves = true;
  inner.state.cutFails = true;
  await expect(log.append(frames[1]!)).rejects.toThrow(StoreError);
  // A torn frame lies behind the end, and the log can't say that it is written.
  expect(fs.readFileSync(file, "utf8")).toBe("onesec");
  expect(log.bytes).toBe(3);
  inner.state.halves = false;
  await expect(log.append(frames[2]!)).rejects.toThrow(StoreError);
  expect(fs.readFileSync(file, "utf8")).toBe("onesec");
  inner.state.cutFails = false;
  await log.append(frames[2]!);
  expect(fs.readFileSync(file, "utf8")).toBe("onethe third");
  await log.close();
});

test("a write that takes only part of the bytes goes on with the rest", async () => {
  const { file, handle, state } = await halfWriting();
  state.most = 2;
  const log = new LogFile(handle, 0);
  for (const frame of frames) await log.append(frame);
  expect(fs.readFileSync(file, "utf8")).toBe("onesecondthe third");
  await log.close();
});

test("closes the second descriptor's file even when the first one fails", async () => {
  let fails = false;
  const { log, calls } = await logWith((call) =>
    fails && call === "close" ? "EIO" : undefined,
  );
  await log.append(frames[0]!);
  fails = true;
  await expect(log.close()).rejects.toThrow("EIO");
  expect(calls.filter((call) => call === "close")).toHaveLength(2);
});

test.each([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EFBIG", "full"],
  ["EIO", "unavailable"],
  ["EROFS", "unavailable"],
])("%s is reported as %s", (code, expected) => {
  const cause = failure(code);
  expect(asStoreError(cause, "can't write")).toMatchObject({
    code: expected,
    message: `can't write: ${code}`,
    cause,
  });
});

test("a StoreError stays what it is", () => {
  const error = new StoreError("corrupt", "text");
  expect(asStoreError(error, "can't write")).toBe(error);
});

/** A real file whose durable writes may stop after half of the bytes, and whose truncate may fail. */
async function halfWriting() {
  const file = path.join(tempDirectory(), "log");
  const state = { halves: false, cutFails: false, most: Infinity };
  const real = await nodeFileSystem.open(file, "create");
  const wrap = (inner: OpenFile): OpenFile => ({
    size: () => inner.size(),
    read: (buffer, position) => inner.read(buffer, position),
    write: async (bytes, position) => {
      if (!state.halves)
        return inner.write(bytes.subarray(0, state.most), position);
      await inner.write(bytes.subarray(0, bytes.length >> 1), position);
      throw failure("ENOSPC");
    },
    truncate: (bytes) =>
      state.cutFails ? Promise.reject(failure("EIO")) : inner.truncate(bytes),
    datasync: () => inner.datasync(),
    sync: () => inner.sync(),
    durable: async () => wrap(await inner.durable()),
    close: () => inner.close(),
  });
  return { file, state, handle: wrap(real) };
}

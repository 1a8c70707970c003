// Run as a child by two-starters.test.ts: starts and stops a store, and writes its next number, as lines of stdin ask.
import * as readline from "node:readline";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { StoreError, type Store } from "../../../storage/store.ts";

const directory = process.argv[2]!;
let store: Store | undefined;

async function start(): Promise<string> {
  const fresh = createFileStore({ directory });
  try {
    await fresh.start();
  } catch (error) {
    if (error instanceof StoreError) return error.code;
    throw error;
  }
  store = fresh;
  return "started";
}

async function write(): Promise<string> {
  const next = (await store!.list("/n/")).values.length + 1;
  await store!.write({
    key: `/n/${next}`,
    expectedRevision: 0,
    encode: () => Buffer.from("x"),
  });
  return String(next);
}

async function stop(): Promise<string> {
  await store!.stop();
  return "stopped";
}

async function main(): Promise<void> {
  const commands = { start, stop, write };
  for await (const line of readline.createInterface({ input: process.stdin }))
    console.log(await commands[line as keyof typeof commands]());
}

void main();

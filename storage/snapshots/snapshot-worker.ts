// A thread of its own for one snapshot of a file store: reading, hashing and writing a large state takes seconds that the
// server's event loop must not lose. Built to dist/snapshot-worker.js; started by take-in-worker.ts with the work as
// workerData, answers with one message, and ends.
import * as os from "node:os";
import * as path from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { saveSnapshot, type Snapshot } from "../snapshot.ts";
import { StoreError } from "../store.ts";
import { readStoreDirectory } from "../transfer.ts";
import {
  makeSnapshotDirectory,
  pruneSnapshots,
  removeAbandoned,
  snapshotName,
} from "./snapshot-directory.ts";
import type { TakenSnapshot } from "./snapshot-scheduler.ts";
import type { SnapshotAnswer, SnapshotWork } from "./take-in-worker.ts";

/** A log read in the moment of a failed append's repair looks damaged; real damage is there the second time too. */
async function readTwice(directory: string): Promise<Snapshot> {
  try {
    return await readStoreDirectory(directory);
  } catch (error) {
    if (error instanceof StoreError && error.code === "corrupt")
      return readStoreDirectory(directory);
    throw error;
  }
}

async function takeSnapshot(work: SnapshotWork): Promise<TakenSnapshot> {
  const { storeDirectory, directory, owner, keep, takenAtMs } = work;
  await makeSnapshotDirectory(directory);
  removeAbandoned(directory, owner, process.pid, takenAtMs);
  const state = await readTwice(storeDirectory);
  const name = snapshotName(owner, takenAtMs, state.revision);
  const { revision, keys, bytes } = await saveSnapshot(
    state,
    path.join(directory, name),
  );
  const taken = { name, revision, keys, bytes };
  try {
    const removed = await pruneSnapshots(directory, owner, keep, name);
    return { ...taken, removed, pruneFailure: undefined };
  } catch (error) {
    return { ...taken, removed: [], pruneFailure: String(error) };
  }
}

// On Linux 0 means the calling thread alone: on a busy machine the event loop goes first.
if (process.platform === "linux")
  os.setPriority(0, os.constants.priority.PRIORITY_BELOW_NORMAL);
const answer = (given: SnapshotAnswer): void => parentPort!.postMessage(given);
takeSnapshot(workerData as SnapshotWork).then(
  (taken) => answer({ taken }),
  (error: Error) => answer({ failure: error.message }),
);

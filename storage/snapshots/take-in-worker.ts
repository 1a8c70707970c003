// Starts snapshot-worker.ts and waits for its answer.
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { StoreError } from "../store.ts";
import { removeAbandoned } from "./snapshot-directory.ts";
import type { TakenSnapshot } from "./snapshot-scheduler.ts";

export interface SnapshotWork {
  readonly storeDirectory: string;
  /** Where the snapshot goes; made when its parent is there. */
  readonly directory: string;
  readonly owner: string;
  /** How many snapshots are left, the new one among them. */
  readonly keep: number;
  readonly takenAtMs: number;
}

export type SnapshotAnswer =
  { readonly taken: TakenSnapshot } | { readonly failure: string };

/** Built files lie in dist/ or, when code is shared between entry points, in dist/chunks/; the worker lies in dist/. */
function builtWorker(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const dist = path.basename(here) === "chunks" ? path.dirname(here) : here;
  return path.join(dist, "snapshot-worker.js");
}

/** Rejects when the snapshot can't be taken, or when the signal aborts; no temporary file of it is left then. */
export async function takeInWorker(
  work: SnapshotWork,
  signal: AbortSignal,
  workerFile: string = builtWorker(),
): Promise<TakenSnapshot> {
  signal.throwIfAborted();
  const worker = new Worker(workerFile, { workerData: work });
  const abort = (): void => void worker.terminate();
  signal.addEventListener("abort", abort, { once: true });
  try {
    const answer = await new Promise<SnapshotAnswer>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () =>
        reject(new Error("the snapshot's thread ended without an answer")),
      );
    });
    if ("taken" in answer) return answer.taken;
    throw new StoreError("unavailable", answer.failure);
  } catch (error) {
    // A thread that was ended can't clean up; the next snapshot would, but there may be none.
    await worker.terminate();
    removeAbandoned(work.directory, work.owner, process.pid, work.takenAtMs);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

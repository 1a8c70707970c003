// The thread that takes a long manifest apart. Built to dist/manifest-worker.js; started by manifest-thread.ts for one text, and
// ended with it.
import { parentPort, workerData } from "node:worker_threads";
import { manifestMessages } from "./manifest-parts.ts";

const { text, fileName } = workerData as { text: string; fileName: string };
for (const message of manifestMessages(text, fileName))
  parentPort!.postMessage(message);

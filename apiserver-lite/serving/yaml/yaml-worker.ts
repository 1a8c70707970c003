// A thread that parses large YAML bodies: the library goes through a text in one go, which the event loop must not wait
// for. Built to dist/yaml-worker.js; started by yaml-thread.ts. Each message is the text of a body, each answer what
// `parsedAsJson` makes of it, in the same order.
import { parentPort } from "node:worker_threads";
import { parsedAsJson } from "../../../api/codec/yaml-json.ts";

parentPort!.on("message", (bytes: Uint8Array) => {
  const parsed = parsedAsJson(bytes);
  parentPort!.postMessage(
    parsed,
    "json" in parsed ? [parsed.json.buffer as ArrayBuffer] : [],
  );
});

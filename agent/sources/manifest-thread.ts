// Takes a long manifest apart on a thread of its own, which is started for it and ends with it: the parser goes through a text in
// one go (10 MiB of short fields take seconds), and what it needs of memory is bounded there.
import { existsSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { ManifestPlace } from "../../api/codec/yaml.ts";
import type {
  DocumentLines,
  ManifestMessage,
  ManifestPart,
} from "./manifest-parts.ts";

/** One object of a manifest. */
export interface ParsedManifest {
  object(): Record<string, unknown>;
  /** The line of a field by its path, or that of the nearest parent known; "": the object's own. */
  lineOf(path: string): number;
}

/** A text of the longest file fits in several times. */
const maxHeapMebibytes = 1024;

/** Built files lie in dist/ or, when code is shared between entry points, in dist/chunks/. Undefined: it was not built. */
export function builtManifestWorker(): string | undefined {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const dist = path.basename(here) === "chunks" ? path.dirname(here) : here;
  const file = path.join(dist, "manifest-worker.js");
  return existsSync(file) ? file : undefined;
}

/** Rejects with a ManifestError, also when the thread ends without having read the text. */
export async function parsedInThread(
  text: string,
  fileName: string,
  workerFile: string,
): Promise<readonly ParsedManifest[]> {
  const { ManifestError, lineAt } = await import("../../api/codec/yaml.ts");
  const worker = new Worker(workerFile, {
    workerData: { text, fileName },
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMebibytes },
  });
  const parts: ManifestPart[] = [];
  let documents: readonly DocumentLines[] | undefined;
  let refusal = new ManifestError(fileName, 1, "", "can't be read");
  await new Promise<void>((resolve) => {
    worker.on("message", (message: ManifestMessage) => {
      if ("parts" in message)
        for (const part of message.parts) parts.push(part);
      else if ("documents" in message) documents = message.documents;
      else {
        const { line, field, reason } = message.refused;
        refusal = new ManifestError(fileName, line, field, reason);
      }
    });
    // Its end follows.
    worker.on("error", (error) => {
      refusal = new ManifestError(fileName, 1, "", error.message);
    });
    worker.on("exit", () => resolve());
  });
  if (!documents) throw refusal;
  const places = documents.map(readLater);
  return parts.map(({ json, document, prefix }) => ({
    object: () => JSON.parse(json) as Record<string, unknown>,
    lineOf: (field) => lineAt({ document: places[document]!(), prefix }, field),
  }));
}

/** Only of a document with a mistake, and once. */
function readLater({
  line,
  lines,
}: DocumentLines): () => ManifestPlace["document"] {
  let read: ManifestPlace["document"] | undefined;
  return () =>
    (read ??= {
      line,
      lines: new Map(JSON.parse(lines) as [string, number][]),
    });
}

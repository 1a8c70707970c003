// One document of an aggregated server: read whole, but bounded in size and time, so that a server that hangs or answers
// without end costs no more than that.
import type { ClientRequest, IncomingMessage } from "node:http";
import type { UserInfo } from "../../api/contracts.ts";
import type { ExtensionServer, Place } from "./extension-server.ts";
import { identityHeaders } from "./identity-headers.ts";
import { reachError } from "./reach-error.ts";

interface DocumentRequest {
  readonly path: string;
  readonly user: UserInfo;
  readonly accept?: string;
  /** Of the version that is known. */
  readonly etag?: string | undefined;
  readonly timeoutMs: number;
  /** Larger ones are refused. 0: the body is not read. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Default: GET. */
  readonly method?: string;
  /** JSON, of this type. */
  readonly body?: { readonly text: string; readonly contentType: string };
}

interface ExtensionDocument {
  readonly status: number;
  readonly contentType: string;
  readonly etag: string;
  readonly body: Buffer;
}

/** Rejects with an Error that says what went wrong. */
export async function readDocument(
  server: ExtensionServer,
  place: Place,
  asked: DocumentRequest,
): Promise<ExtensionDocument> {
  if (server.problem) throw new Error(server.problem);
  const { path, user, accept, etag, timeoutMs, signal, body } = asked;
  const late = new Error(
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
  );
  let timer: NodeJS.Timeout | undefined;
  try {
    const outgoing = server.request(place, {
      method: asked.method ?? "GET",
      path,
      headers: {
        ...identityHeaders(user, false),
        "user-agent": "orbit-aggregator",
        ...(accept ? { accept } : {}),
        ...(etag ? { "if-none-match": etag } : {}),
        ...(body
          ? {
              "content-type": body.contentType,
              "content-length": Buffer.byteLength(body.text),
            }
          : {}),
      },
    });
    timer = setTimeout(() => outgoing.destroy(late), timeoutMs);
    const stop = (): void => void outgoing.destroy();
    signal?.addEventListener("abort", stop, { once: true });
    outgoing.once("close", () => signal?.removeEventListener("abort", stop));
    if (signal?.aborted) stop();
    const answer = await answerTo(outgoing, body?.text);
    return {
      status: answer.statusCode ?? 0,
      contentType: answer.headers["content-type"] ?? "",
      etag: answer.headers.etag ?? "",
      body: await readBounded(answer, asked.maxBytes),
    };
  } catch (error) {
    throw new Error(reachError(error, place), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** The head of the answer to a request that is sent whole. Rejects when there is none. */
export function answerTo(
  outgoing: ClientRequest,
  body?: string,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.once("response", resolve);
    outgoing.on("error", reject);
    outgoing.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("unexpected switch of protocols"));
    });
    outgoing.once("close", () => reject(new Error("EOF")));
    outgoing.end(body);
  });
}

async function readBounded(
  answer: IncomingMessage,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    if (maxBytes > 0)
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > maxBytes)
          throw new Error(`the answer has more than ${maxBytes} bytes`);
        chunks.push(chunk);
      }
  } finally {
    // What is left of it is not waited for.
    if (!answer.complete) answer.destroy();
  }
  return Buffer.concat(chunks, bytes);
}

// What is asked of two servers alike: a scenario calls a server step by step, each step with a label of its own, and
// what is answered is kept in a form in which two servers' answers can be compared (normalise.ts). Recordings of the
// reference's answers lie in recorded/; the suite plays the scenarios against Orbit and compares.
import * as http from "node:http";
import * as https from "node:https";
import { createNormaliser, type Json, type Shown } from "./normalise.ts";

/** What is expected to come: also from a busy machine. */
const defaultTimeoutMs = 60_000;

export interface CallOptions {
  /** An object is sent as JSON; text and bytes as they are (give a content-type). */
  body?: unknown;
  headers?: Record<string, string>;
  /** Ends after this many frames of a watch (lines of JSON), at the latest after `timeoutMs`. */
  frames?: number;
  timeoutMs?: number;
  /** Run when the answer's head is there, while a watch is open. */
  meanwhile?: () => Promise<void>;
  /** Not compared: only the way to another step. */
  silent?: boolean;
  /** Sent again until this is the answer, a hundred times at most: for what the time between two steps decides. */
  until?: (answer: Answer) => boolean;
  /** Of the headers only warnings are compared. */
  lean?: boolean;
  /** What is kept of the body; default all of it. */
  keep?: (body: Json) => unknown;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  bytes: Buffer;
  text: string;
  /** The parsed JSON; undefined when it is none. For a watch the list of frames. */
  body: Json;
}

export interface Server {
  /** A namespace that is there, of this scenario alone. */
  readonly namespace: string;
  /** The server's own time when the scenario began, in milliseconds since the epoch. Ages in answers count from it. */
  readonly nowMs: number;
  call(
    label: string,
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<Answer>;
}

export interface Scenario {
  name: string;
  /** Of the server, beyond those of test/reference/README.md. `@NAME` is the path of that file of `files`. */
  readonly options?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  run(server: Server): Promise<void>;
}

export interface Target {
  /** `https://127.0.0.1:6443`. Its certificate is not checked. */
  url: string;
  token: string;
}

export type Recording = Record<string, Shown>;

function send(
  target: Target,
  method: string,
  path: string,
  options: CallOptions,
): Promise<Answer> {
  const { body, frames } = options;
  const payload =
    body === undefined || typeof body === "string" || Buffer.isBuffer(body)
      ? body
      : JSON.stringify(body);
  const headers: Record<string, string> = {
    authorization: `Bearer ${target.token}`,
    ...(body !== undefined && payload !== body
      ? { "content-type": "application/json" }
      : {}),
    ...(payload === undefined
      ? {}
      : { "content-length": String(Buffer.byteLength(payload)) }),
    ...options.headers,
  };
  const url = new URL(target.url);
  const { request } = url.protocol === "https:" ? https : http;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        let lines = 0;
        let ended = false;
        const end = (): void => {
          if (ended) return;
          ended = true;
          clearTimeout(timer);
          sent.destroy();
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString("utf8");
          let parsed: Json;
          try {
            parsed =
              frames === undefined
                ? JSON.parse(text)
                : text
                    .split("\n")
                    .filter(Boolean)
                    .slice(0, frames)
                    .map((line) => JSON.parse(line) as Json);
          } catch {
            parsed = undefined;
          }
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            bytes,
            text,
            body: parsed,
          });
        };
        const timer = setTimeout(end, options.timeoutMs ?? defaultTimeoutMs);
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          if (frames === undefined) return;
          for (const byte of chunk) if (byte === 10) lines++;
          if (lines >= frames) end();
        });
        response.on("end", end);
        response.on("close", end);
        response.on("error", end);
        options.meanwhile?.().catch(reject);
      },
    );
    sent.on("error", reject);
    sent.setTimeout(Math.max(options.timeoutMs ?? 0, defaultTimeoutMs), () =>
      sent.destroy(new Error(`no answer to ${method} ${path}`)),
    );
    sent.end(payload);
  });
}

/** The server's own time, to the second: an object that is not stored says when it would have been created. */
async function serverTime(target: Target): Promise<number> {
  const { body } = await send(target, "POST", "/api/v1/namespaces?dryRun=All", {
    body: { metadata: { generateName: "ref-clock-" } },
  });
  const time = Date.parse(body?.metadata?.creationTimestamp);
  if (Number.isNaN(time)) throw new Error("the server does not say its time");
  return time;
}

/** Runs a scenario; resolves to what was shown, by label. */
export async function play(
  scenario: Scenario,
  target: Target,
): Promise<Recording> {
  const namespace = `ref-${scenario.name}`;
  const { normalise, own } = createNormaliser();
  const recording: Recording = {};
  const made = await send(target, "POST", "/api/v1/namespaces", {
    body: { metadata: { name: namespace } },
  });
  if (made.status !== 201 && made.status !== 409)
    throw new Error(`namespace ${namespace}: ${made.text}`);
  await scenario.run({
    namespace,
    nowMs: await serverTime(target),
    async call(label, method, path, options = {}) {
      if (!options.silent && label in recording)
        throw new Error(`two steps are called ${label}`);
      const { until = () => true } = options;
      let answer = await send(target, method, path, options);
      for (let more = 0; more < 100 && !until(answer); more++)
        answer = await send(target, method, path, options);
      own(answer.body);
      if (!options.silent) {
        const shown = normalise(answer, options.keep);
        const { warning } = shown.headers;
        recording[label] = options.lean
          ? { ...shown, headers: warning === undefined ? {} : { warning } }
          : shown;
      }
      return answer;
    },
  });
  return recording;
}

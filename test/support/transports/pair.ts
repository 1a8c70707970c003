// One set of rules for both transports: each request is made over HTTP to one server and in process to another one with
// the same past, and what they answer – object, list, Status or refusal – is the same, down to versions and owners of
// fields. What is random (uids, generated names, tokens) is masked.
import * as fs from "node:fs";
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import {
  loadClusterPki,
  type ClusterPki,
} from "../../../apiserver-lite/bootstrap/cluster-pki.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { serverOptions } from "../../../cli/options/server.ts";
import { startApiPart } from "../../../cli/parts/api/apiserver.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import type { ApiRequest, Transport } from "../../../client/transport.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { FakeClock } from "../fake-clock.ts";
import { useTempDirectories } from "../temp-directory.ts";

/** Tests look into answers freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

export interface Side {
  readonly transport: Transport;
  readonly clock: FakeClock;
  stop(): Promise<void>;
}

/**
 * In order: later requests meet what earlier ones made, so that a table can't be run in another order. `want`: the kind
 * that is answered, or the code.
 */
export type RequestTable = [
  name: string,
  request: ApiRequest,
  want: string | number,
][];

interface TransportPair {
  readonly http: Side;
  readonly inProcess: Side;
  /** Makes the request on both sides. */
  answersAlike(request: ApiRequest, want: string | number): Promise<void>;
}

/** Call at the top of a test file. @param past requests that both servers have answered before the first test */
export function useTransportPair(
  past: readonly ApiRequest[] = [],
): TransportPair {
  const directory = useTempDirectories();
  let http: Side;
  let inProcess: Side;
  beforeAll(async () => {
    const startMs = Date.now();
    // One set of certificates: they are published as objects.
    const pki = loadClusterPki({
      directory: fs.mkdtempSync(`${directory()}/`),
      hosts: [],
      serviceAddresses: [],
      nowMs: startMs,
    });
    http = await start(true, startMs, pki);
    inProcess = await start(false, startMs, pki);
    for (const request of past)
      for (const { transport } of [http, inProcess])
        await transport.request(request);
  });
  afterAll(async () => {
    await http.stop();
    await inProcess.stop();
  });
  return {
    get http() {
      return http;
    },
    get inProcess() {
      return inProcess;
    },
    async answersAlike(request, want) {
      const over = await outcome(() => http.transport.request(request));
      const within = await outcome(() => inProcess.transport.request(request));
      expect(over.answer?.kind ?? over.code).toBe(want);
      expect(within).toEqual(over);
    },
  };
}

/** An API server as `orbit server` has it, without the parts that would write by themselves. */
async function start(
  overHttp: boolean,
  startMs: number,
  pki: ClusterPki,
): Promise<Side> {
  const clock = new FakeClock(startMs);
  const logger = pino({ level: "silent" });
  const api = await startApiPart({
    values: parseOptions(serverOptions, []),
    store: createMemoryStore({ clock }),
    serving: undefined,
    pki,
    clock,
    logger,
    bindAddress: "127.0.0.1",
    port: 0,
  });
  const component = "tester/1";
  const transport = overHttp
    ? createHttpTransport({
        server: `https://127.0.0.1:${api.server.port}`,
        tls: {
          ca: pki.clusterCa.certificate,
          cert: pki.admin.certificate,
          key: pki.admin.key,
        },
        userAgent: component,
      })
    : api.server.transport(
        {
          name: "kubernetes-admin",
          groups: ["system:masters", "system:authenticated"],
          extra: {},
        },
        component,
      );
  return {
    transport,
    clock,
    stop: async () => {
      await transport.close();
      await api.stop();
    },
  };
}

const random =
  /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b|(?<=\b(?:gen|kube-api-access)-)[a-z\d]{5}\b|eyJ[\w.-]+/g;

/** Who is known by a certificate has its name in `extra`; a stream that is not bytes needs no blueprint of its lists. */
const unlike = new Set([
  "extra",
  "kubernetes.io/initial-events-list-blueprint",
]);

/** What a client sees of an answer, without what is random. */
export function masked(answer: unknown): Json {
  const text = JSON.stringify(answer, (key, value: unknown) =>
    unlike.has(key) ? undefined : value,
  );
  return JSON.parse(text.replace(random, "<random>"));
}

/** The answer, or what its error says, masked. */
export async function outcome(run: () => Promise<unknown>): Promise<Json> {
  try {
    return masked({ answer: await run() });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, reason, message, details, metadata } = error.status;
    return masked({ code, reason, message, details, metadata });
  }
}

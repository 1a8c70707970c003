// A cluster in memory with controllers and scheduler, and an administrator who speaks plain HTTPS to it, so that what is
// tested is what a stranger's client meets.
import { Agent, fetch } from "undici";
import { load } from "js-yaml";
import { startCluster, type Cluster } from "../../../index.ts";
import { eventually } from "../../support/eventually.ts";

/** Tests look into answers freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

export interface Watch {
  /** The next event that `accept` takes; rejects when none comes for long. */
  until(accept: (event: { type: string; object: Json }) => boolean): Promise<{
    type: string;
    object: Json;
  }>;
  close(): void;
}

export interface Tester {
  readonly cluster: Cluster;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** As call, and fails with the server's words when the answer is an error. */
  ok(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Json>;
  watch(path: string): Promise<Watch>;
  /** A new namespace of this name. */
  namespace(name: string): Promise<string>;
  stop(): Promise<void>;
}

const patchTypes: Record<string, string> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  json: "application/json-patch+json",
};
export const patchHeader = (type: string): Record<string, string> => ({
  "content-type": patchTypes[type]!,
});

export async function startTester(
  args: readonly string[] = [],
): Promise<Tester> {
  const cluster = await startCluster({ args });
  const config = load(cluster.kubeconfig) as Json;
  const decode = (text: string): string =>
    Buffer.from(text, "base64").toString("utf8");
  const user = config.users[0].user;
  const dispatcher = new Agent({
    connect: {
      ca: cluster.certificateAuthority,
      cert: decode(user["client-certificate-data"]),
      key: decode(user["client-key-data"]),
    },
  });
  const watches = new Set<AbortController>();
  const call: Tester["call"] = async (method, path, body, headers = {}) => {
    const response = await fetch(cluster.url + path, {
      method,
      dispatcher,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    let parsed: Json = text;
    try {
      parsed = JSON.parse(text);
    } catch {
      // Not JSON: the test looks at the text.
    }
    return {
      status: response.status,
      headers: response.headers as unknown as Headers,
      body: parsed,
    };
  };
  const ok: Tester["ok"] = async (method, path, body, headers) => {
    const answer = await call(method, path, body, headers);
    if (answer.status >= 400)
      throw new Error(
        `${method} ${path}: ${answer.status} ${answer.body.message ?? answer.body}`,
      );
    return answer.body;
  };
  return {
    cluster,
    call,
    ok,
    async watch(path) {
      const abort = new AbortController();
      watches.add(abort);
      const response = await fetch(cluster.url + path, {
        dispatcher,
        signal: abort.signal,
      });
      const events: { type: string; object: Json }[] = [];
      void (async () => {
        let text = "";
        // A piece may end within a character.
        const decoder = new TextDecoder();
        for await (const chunk of response.body!) {
          text += decoder.decode(chunk as Uint8Array, { stream: true });
          const lines = text.split("\n");
          text = lines.pop()!;
          for (const line of lines) if (line) events.push(JSON.parse(line));
        }
      })().catch(() => undefined);
      return {
        async until(accept) {
          let found: { type: string; object: Json } | undefined;
          await eventually(
            () => {
              while (events.length > 0 && !found) {
                const event = events.shift()!;
                if (accept(event)) found = event;
              }
              return found !== undefined;
            },
            { what: "a watch event" },
          );
          return found!;
        },
        close: () => abort.abort(),
      };
    },
    async namespace(name) {
      await ok("POST", "/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      });
      await eventually(
        async () =>
          (
            await call(
              "GET",
              `/api/v1/namespaces/${name}/serviceaccounts/default`,
            )
          ).status === 200,
        { what: "the default service account" },
      );
      return name;
    },
    async stop() {
      for (const abort of watches) abort.abort();
      await dispatcher.destroy();
      await cluster.stop();
    },
  };
}

// The OpenAPI documents of aggregated servers: which version-3 document each has, and what its version-2 document says about
// its own group version. Fetched in the background, once a minute and when a server becomes available, by their ETags;
// bounded in size and time. What a server says about other servers' paths is left out.
import { parseForeignJson } from "../../client/webhook/foreign-json.ts";
import type { UserInfo } from "../../api/contracts.ts";
import { documentBelow } from "../../api/openapi/merge.ts";
import type { OtherDocuments } from "../../api/openapi/service.ts";
import {
  BackgroundRefresh,
  type RefreshOptions,
} from "./background-refresh.ts";
import type { readDocument } from "./extension-document.ts";
import { pathOf } from "./registration.ts";
import type { RemoteService } from "./remote-services.ts";

const timeoutMs = 60_000;
const maxIndexBytes = 1024 * 1024;
/** Of all a server has: about what one with all built-in kinds says. */
const maxBytes = 4 * 1024 * 1024;
const maxBackoffMs = 3_600_000;

const reader: UserInfo = { name: "system:aggregator", groups: [], extra: {} };

interface Known {
  /** Of its version-3 document; undefined: it has none. */
  readonly v3: string | undefined;
  readonly etag: string;
  /** Undefined: it has none. */
  readonly v2: Record<string, unknown> | undefined;
}

export class ExtensionOpenApi implements OtherDocuments {
  readonly #known = new Map<string, Known>();
  readonly #refreshing: BackgroundRefresh;

  constructor(private readonly options: RefreshOptions) {
    this.#refreshing = new BackgroundRefresh(options, {
      name: "open-api-aggregation",
      refresh: (name) => this.#refresh(name),
      isReason: (now, before) =>
        now?.available !== before?.available || now?.server !== before?.server,
      isAsked: ({ available }) => available,
      backoff: { baseBackoffMs: 1_000, maxBackoffMs },
    });
  }

  start(): void {
    this.#refreshing.start();
  }

  stop(): Promise<void> {
    return this.#refreshing.stop();
  }

  /** Has the server of this APIService a version-3 document? */
  hasV3(name: string): boolean {
    return this.#known.get(name)?.v3 !== undefined;
  }

  v3(): Readonly<Record<string, string>> {
    const paths: Record<string, string> = {};
    for (const remote of this.options.remotes.all()) {
      const path = this.#known.get(remote.name)?.v3;
      if (path !== undefined) paths[pathOf(remote).slice(1)] = path;
    }
    return paths;
  }

  onlyV2(): Readonly<Record<string, Record<string, unknown>>> {
    const documents: Record<string, Record<string, unknown>> = {};
    for (const remote of this.options.remotes.all()) {
      const { v3, v2 } = this.#known.get(remote.name) ?? {};
      if (v3 === undefined && v2 && Object.keys(v2["paths"] ?? {}).length > 0)
        documents[pathOf(remote).slice(1)] = v2;
    }
    return documents;
  }

  v2(): readonly Record<string, unknown>[] {
    return [...this.options.remotes.all()]
      .sort(
        (a, b) =>
          b.groupPriority - a.groupPriority ||
          b.versionPriority - a.versionPriority ||
          (a.name < b.name ? -1 : 1),
      )
      .map(({ name }) => this.#known.get(name)?.v2)
      .filter((document) => document !== undefined);
  }

  async #refresh(name: string): Promise<void> {
    const { remotes, changed } = this.options;
    const remote = remotes.get(name);
    if (!remote) {
      if (this.#known.delete(name)) changed();
      return;
    }
    // What it said is kept while it is away.
    if (!remote.available) return;
    const before = this.#known.get(name);
    const now = await this.#read(remote, before);
    if (!remotes.get(name)) return;
    this.#known.set(name, now);
    if (now.v3 !== before?.v3 || now.v2 !== before?.v2) changed();
  }

  async #read(
    remote: RemoteService,
    before: Known | undefined,
  ): Promise<Known> {
    const index = await this.#get(remote, "/openapi/v3", maxIndexBytes);
    const v3 =
      index.status === 200
        ? pathIn(await this.#parsed(index.body), pathOf(remote))
        : undefined;
    const etag = before?.etag === "" ? undefined : before?.etag;
    const found = await this.#get(remote, "/openapi/v2", maxBytes, etag);
    if (found.status === 304 && before) return { ...before, v3 };
    if (found.status !== 200) return { v3, etag: "", v2: undefined };
    const document = (await this.#parsed(found.body)) as Known["v2"];
    const v2 = documentBelow(document ?? {}, `${pathOf(remote)}/`);
    return { v3, etag: found.etag, v2 };
  }

  async #parsed(body: Buffer): Promise<unknown> {
    return parseForeignJson(body, this.options.slices.pauses());
  }

  #get(
    remote: RemoteService,
    path: string,
    bytes: number,
    etag?: string,
  ): ReturnType<typeof readDocument> {
    return this.#refreshing.read(remote, {
      path,
      accept: "application/json",
      etag,
      user: reader,
      timeoutMs,
      maxBytes: bytes,
    });
  }
}

/** Where the index says that the document of a group version is. Throws for what is no index. */
function pathIn(index: unknown, path: string): string | undefined {
  const { paths } = index as {
    paths?: Record<string, { serverRelativeURL?: unknown } | undefined>;
  };
  const url = paths?.[path.slice(1)]?.serverRelativeURL;
  // No way to another path.
  return typeof url === "string" &&
    url.split("?", 1)[0] === `/openapi/v3${path}`
    ? url
    : undefined;
}

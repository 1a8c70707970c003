// The discovery documents of aggregated servers: fetched in the background, once a minute and when an APIService changes,
// and kept, so that no request for discovery waits for another server. A version whose server does not answer, or answers
// nonsense, is Stale and has no resources, as at the reference.
import { parseForeignJson } from "../../client/webhook/foreign-json.ts";
import type { UserInfo } from "../../api/contracts.ts";
import { apiVersionOf } from "../../api/object.ts";
import { sameValue } from "../../api/objects/json-equality.ts";
import {
  type DiscoveredResource,
  resourcesByVersion,
  resourcesOfList,
} from "./discovery-document.ts";
import {
  BackgroundRefresh,
  type RefreshOptions,
} from "./background-refresh.ts";
import type { readDocument } from "./extension-document.ts";
import { pathOf, type ServicePort } from "./registration.ts";
import type { RemoteService } from "./remote-services.ts";

const timeoutMs = 5_000;
/** Some ten times what a server with all built-in kinds says. */
const maxBytes = 2 * 1024 * 1024;

const reader: UserInfo = {
  name: "system:kube-aggregator",
  groups: ["system:masters"],
  extra: {},
};
const aggregatedTypes = ["v2", "v2beta1"].map(
  (version) =>
    `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
);

interface VersionDiscovery {
  readonly version: string;
  readonly resources: readonly DiscoveredResource[];
  readonly freshness: "Current" | "Stale";
}

/** What one service said about all its versions. */
interface ServiceDocument {
  readonly etag: string;
  readonly versions: ReadonlyMap<string, readonly DiscoveredResource[]>;
}

export class ExtensionDiscovery {
  /** By the name of the APIService. */
  readonly #known = new Map<string, VersionDiscovery>();
  /** By the name of the APIService: why it is Stale, which is said once. */
  readonly #problems = new Map<string, string>();
  readonly #documents = new Map<string, ServiceDocument>();
  /** By service: a request that is under way serves all versions of the service. */
  readonly #reading = new Map<string, Promise<ServiceDocument | undefined>>();
  readonly #refreshing: BackgroundRefresh;

  constructor(private readonly options: RefreshOptions) {
    this.#refreshing = new BackgroundRefresh(options, {
      name: "discovery-manager",
      refresh: (name) => this.#refresh(name),
      // Its condition is no reason, but for its coming back.
      isReason: (now, before) => !now || !before || differs(now, before),
      isAsked: () => true,
    });
  }

  start(): void {
    this.#refreshing.start();
  }

  stop(): Promise<void> {
    return this.#refreshing.stop();
  }

  /** Undefined until the server was asked for the first time. */
  of(name: string): VersionDiscovery | undefined {
    return this.#known.get(name);
  }

  async #refresh(name: string): Promise<void> {
    const { remotes, logger, changed } = this.options;
    const remote = remotes.get(name);
    if (!remote) {
      this.#forgetUnused();
      this.#problems.delete(name);
      if (this.#known.delete(name)) changed();
      return;
    }
    const { version } = remote;
    let found: VersionDiscovery;
    try {
      const resources = await this.#read(remote);
      found = { version, resources, freshness: "Current" };
      this.#problems.delete(name);
    } catch (error) {
      const { message } = error as Error;
      if (this.#problems.get(name) !== message)
        logger.warn(
          { apiService: name, err: error },
          "can't read the discovery documents of an aggregated API",
        );
      this.#problems.set(name, message);
      found = { version, resources: [], freshness: "Stale" };
    }
    // Another change of it is in the queue.
    if (!remotes.get(name) || sameValue(this.#known.get(name), found)) return;
    this.#known.set(name, found);
    changed();
  }

  async #read(remote: RemoteService): Promise<readonly DiscoveredResource[]> {
    const key = keyOf(remote.service);
    let reading = this.#reading.get(key);
    if (!reading) {
      reading = this.#readService(remote, key).finally(() =>
        this.#reading.delete(key),
      );
      this.#reading.set(key, reading);
    }
    const document = await reading;
    if (document) return document.versions.get(apiVersionOf(remote)) ?? [];
    const answer = await this.#get(remote, pathOf(remote), "application/json");
    if (answer.status !== 200)
      throw new Error(
        `failed to download legacy discovery for ${pathOf(remote)}: status ${answer.status}`,
      );
    return resourcesOfList(await this.#parsed(answer.body));
  }

  /** Undefined: the server has only the older lists. */
  async #readService(
    remote: RemoteService,
    key: string,
  ): Promise<ServiceDocument | undefined> {
    const known = this.#documents.get(key);
    const { status, contentType, etag, body } = await this.#get(
      remote,
      "/apis",
      aggregatedTypes.join(","),
      known?.etag,
    );
    if (status === 304 && known) return known;
    if (status === 503)
      throw new Error(
        `service ${key} returned non-success response code: ${status}`,
      );
    const aggregated =
      status === 200 && contentType.includes("as=APIGroupDiscoveryList");
    if (!aggregated) return undefined;
    const versions = resourcesByVersion(await this.#parsed(body));
    const document = { etag, versions };
    this.#documents.set(key, document);
    return document;
  }

  #get(
    remote: RemoteService,
    path: string,
    accept: string,
    etag?: string,
  ): ReturnType<typeof readDocument> {
    return this.#refreshing.read(remote, {
      path,
      accept,
      etag: etag === "" ? undefined : etag,
      user: reader,
      timeoutMs,
      maxBytes,
    });
  }

  async #parsed(body: Buffer): Promise<unknown> {
    return parseForeignJson(body, this.options.slices.pauses());
  }

  #forgetUnused(): void {
    const used = new Set(
      [...this.options.remotes.all()].map(({ service }) => keyOf(service)),
    );
    for (const key of this.#documents.keys())
      if (!used.has(key)) this.#documents.delete(key);
  }
}

const keyOf = ({ namespace, name, port }: ServicePort): string =>
  `${namespace}/${name}:${port}`;

/** In what its documents depend on, or is it available now and was not before? */
function differs(now: RemoteService, before: RemoteService): boolean {
  return (
    now.server !== before.server ||
    keyOf(now.service) !== keyOf(before.service) ||
    (now.available && !before.available)
  );
}

// Discovery: /api, /apis, /api/v1, /apis/g/v and the aggregated form of the first two (v2, v2beta1) with an ETag, made
// from the catalogue and what aggregated servers say, and remade when they change.
import { createHash } from "node:crypto";
import type {
  Catalogue,
  GroupVersionInfo,
  ResourceInfo,
} from "../../api/catalogue.ts";
import { apiVersionOf } from "../../api/object.ts";
import type { HttpRequest } from "../serving/http-request.ts";
import { pathNotFound } from "../request/refusals.ts";
import { checkRoute, pageNotFound, type Route } from "../request/route.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type {
  DescribedVersion,
  GroupVersions,
  ServedGroups,
} from "./served-groups.ts";
import type { FormatName } from "../serving/negotiation.ts";

interface DiscoveryOptions {
  readonly catalogue: Catalogue;
  readonly groups: ServedGroups;
  /** host:port of /api's serverAddressByClientCIDRs. */
  readonly serverAddress: () => string;
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** What is checked of requests for the lists of a version's resources. */
  readonly route: Route;
  /** Encodes an answer in what the client accepts, under the content type of its headers if they have one. */
  readonly send: (
    request: HttpRequest,
    object: object,
    how?: { format?: FormatName; cbor?: false },
  ) => void;
}

interface Aggregated {
  readonly object: object;
  readonly etag: string;
}

interface AggregatedForm {
  readonly version: string;
  readonly format: "json" | "yaml" | "protobuf";
}

const mediaTypes = {
  json: "application/json",
  yaml: "application/yaml",
  protobuf: "application/vnd.kubernetes.protobuf",
} as const;

/** The aggregator's answers do not come in CBOR. */
const noCbor = { cbor: false } as const;

export class Discovery {
  readonly #aggregated = new Map<string, Aggregated>();

  constructor(private readonly options: DiscoveryOptions) {}

  /** To be called when resources were added or removed, here or elsewhere. */
  invalidate(): void {
    this.#aggregated.clear();
  }

  paths(): PathHandler[] {
    return [
      {
        path: "/api",
        route: this.options.route,
        handle: (request) => this.#root(request, true),
      },
      // The aggregator's: any method will do.
      {
        path: "/apis",
        route: {},
        handle: (request) => this.#root(request, false),
      },
      {
        path: "/api/",
        listed: () => ["/api/v1"],
        handle: (request) => this.#below(request, true),
      },
      {
        path: "/apis/",
        listed: () => this.#listed(),
        handle: (request) => this.#below(request, false),
      },
    ];
  }

  /** All paths of groups and versions. */
  #listed(): string[] {
    return this.options.groups
      .listed()
      .flatMap(({ name, versions }) => [
        "/apis/",
        `/apis/${name}`,
        ...versions.map(({ version }) => `/apis/${name}/${version}`),
      ]);
  }

  #root(request: HttpRequest, core: boolean): void {
    const wanted = aggregatedForm(request.exchange.headers.accept);
    if (wanted) return this.#sendAggregated(request, core, wanted);
    const { send, serverAddress } = this.options;
    if (core)
      return send(
        request,
        {
          kind: "APIVersions",
          versions: ["v1"],
          serverAddressByClientCIDRs: [
            { clientCIDR: "0.0.0.0/0", serverAddress: serverAddress() },
          ],
        },
        noCbor,
      );
    send(
      request,
      {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: this.options.groups.listed().map(groupObject),
      },
      noCbor,
    );
  }

  #below(request: HttpRequest, core: boolean): void {
    const parts = request.info.path.replace(/\/$/, "").slice(1).split("/");
    const { catalogue, groups, route, send } = this.options;
    if (core) {
      if (parts.length !== 2 || !catalogue.hasGroupVersion("", parts[1]!))
        throw pathNotFound();
      checkRoute(request.exchange, route);
      return send(request, this.#resourceList("", parts[1]!));
    }
    const group = canonicalGroup(parts[1] ?? "");
    const found =
      groups.listed().find((one) => one.name === group) ?? this.#served(group);
    if (!found) throw pageNotFound();
    if (parts.length === 2) {
      return send(
        request,
        {
          kind: "APIGroup",
          apiVersion: "v1",
          ...groupObject(found),
        },
        noCbor,
      );
    }
    if (parts.length !== 3 || !catalogue.hasGroupVersion(group, parts[2]!))
      throw this.#served(group) ? pathNotFound() : pageNotFound();
    checkRoute(request.exchange, route);
    send(request, this.#resourceList(group, parts[2]!));
  }

  /** One that has no APIService is served all the same. */
  #served(group: string): GroupVersions<GroupVersionInfo> | undefined {
    const versions = this.options.catalogue
      .groupVersions()
      .filter((info) => info.group === group);
    return versions.length > 0 ? { name: group, versions } : undefined;
  }

  #isOn({ featureGate }: { featureGate?: string }): boolean {
    return !featureGate || (this.options.featureGates[featureGate] ?? false);
  }

  #resourceList(group: string, version: string): object {
    const resources: object[] = [];
    const showsHashes = this.options.featureGates["StorageVersionHash"] ?? true;
    for (const info of this.options.catalogue.resources(group, version)) {
      if (!this.#isOn(info)) continue;
      resources.push({
        name: info.resource,
        singularName: info.singular,
        namespaced: info.namespaced,
        kind: info.kind,
        verbs: info.verbs,
        ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
        ...(info.categories.length > 0 ? { categories: info.categories } : {}),
        ...(info.storageVersionHash && showsHashes
          ? { storageVersionHash: info.storageVersionHash }
          : {}),
      });
      for (const sub of info.subresources) {
        if (!this.#isOn(sub)) continue;
        const [subGroup, subVersion] = sub.apiVersion?.split("/") ?? [];
        resources.push({
          name: `${info.resource}/${sub.name}`,
          singularName: "",
          namespaced: info.namespaced,
          ...(sub.apiVersion
            ? {
                group: subVersion ? subGroup : "",
                version: subVersion ?? subGroup,
              }
            : {}),
          kind: sub.kind,
          verbs: sub.verbs,
        });
      }
    }
    return {
      kind: "APIResourceList",
      ...(group === "" ? {} : { apiVersion: "v1" }),
      groupVersion: apiVersionOf({ group, version }),
      resources,
    };
  }

  #sendAggregated(
    request: HttpRequest,
    core: boolean,
    { version, format }: AggregatedForm,
  ): void {
    const key = `${core}|${version}`;
    let known = this.#aggregated.get(key);
    if (!known) {
      const object = this.#aggregate(core, version);
      const digest = createHash("sha512").update(JSON.stringify(object));
      known = { object, etag: `"${digest.digest("hex").toUpperCase()}"` };
      this.#aggregated.set(key, known);
    }
    const { headers, exchange } = request;
    Object.assign(headers, {
      etag: known.etag,
      vary: "Accept",
      "cache-control": "public",
    });
    if (exchange.headers["if-none-match"] === known.etag)
      return request.respond(304, {});
    headers["content-type"] =
      `${mediaTypes[format]};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
    this.options.send(request, known.object, { format });
  }

  #aggregate(core: boolean, version: string): object {
    const groups = core
      ? [this.#served("") ?? { name: "", versions: [] }]
      : this.options.groups.described();
    return {
      kind: "APIGroupDiscoveryList",
      apiVersion: `apidiscovery.k8s.io/${version}`,
      metadata: {},
      items: groups.map(({ name, versions }) => ({
        metadata: { ...(name ? { name } : {}), creationTimestamp: null },
        versions: versions.map((one) => this.#aggregatedVersion(name, one)),
      })),
    };
  }

  #aggregatedVersion(
    group: string,
    { version, document }: DescribedVersion,
  ): object {
    return (
      document ?? {
        version,
        resources: this.options.catalogue
          .resources(group, version)
          .filter((resource) => this.#isOn(resource))
          .map((resource) => this.#aggregatedResource(resource)),
        freshness: "Current",
      }
    );
  }

  #aggregatedResource(info: ResourceInfo): object {
    const scope = info.namespaced ? "Namespaced" : "Cluster";
    // Empty where they are the list's own, as the reference has it for what is built in.
    const own = info.custom && apiVersionOf(info);
    const kindOf = (kind: string, apiVersion: string | undefined) => {
      if (!apiVersion) return { group: "", version: "", kind };
      const [group, version] = apiVersion.includes("/")
        ? apiVersion.split("/")
        : ["", apiVersion];
      return { group, version, kind };
    };
    const subresources = info.subresources
      .filter((sub) => this.#isOn(sub))
      .map((sub) => ({
        subresource: sub.name,
        responseKind: kindOf(sub.kind, sub.apiVersion ?? own),
        verbs: sub.verbs,
      }));
    return {
      resource: info.resource,
      responseKind: kindOf(info.kind, own),
      scope,
      singularResource: info.singular,
      verbs: info.verbs,
      ...(info.shortNames.length > 0 ? { shortNames: info.shortNames } : {}),
      ...(info.categories.length > 0 ? { categories: info.categories } : {}),
      ...(subresources.length > 0 ? { subresources } : {}),
    };
  }
}

function canonicalGroup(group: string): string {
  return group.endsWith(".orbit.io")
    ? `${group.slice(0, -".orbit.io".length)}.k8s.io`
    : group;
}

function groupObject({
  name,
  versions,
}: GroupVersions<{ readonly version: string }>): object {
  const shown = versions.map(({ version }) => ({
    groupVersion: `${name}/${version}`,
    version,
  }));
  return { name, versions: shown, preferredVersion: shown[0] };
}

/** The first aggregated form a client accepts, before any plain one. */
function aggregatedForm(
  accept: string | undefined,
): AggregatedForm | undefined {
  if (!accept?.includes("APIGroupDiscoveryList")) return undefined;
  for (const clause of accept.split(",")) {
    const [type, ...parameters] = clause.split(";").map((part) => part.trim());
    const format = (["json", "yaml", "protobuf"] as const).find(
      (name) => mediaTypes[name] === type,
    );
    if (!format) continue;
    if (!parameters.includes("as=APIGroupDiscoveryList")) continue;
    if (
      !parameters.some((one) => /^g=apidiscovery\.(k8s|orbit)\.io$/.test(one))
    )
      continue;
    if (parameters.includes("v=v2")) return { version: "v2", format };
    if (parameters.includes("v=v2beta1")) return { version: "v2beta1", format };
  }
  return undefined;
}

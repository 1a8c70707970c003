// What the API offers under which path, from the resource catalogue: the same operations for both OpenAPI versions.
import { ANY, patchesOf, PRODUCES, STREAMS } from "./media-types.ts";
import type { Catalogue, ResourceInfo, SubresourceInfo } from "../catalogue.ts";
import {
  apiVersionOf,
  parseApiVersion,
  type GroupVersionKind,
} from "../object.ts";
import { messageNameOfKind } from "../type-table.ts";
import { PATCH } from "./definitions.ts";
import {
  COLLECTION,
  CONNECT,
  DELETE,
  inPath,
  LIST,
  LOG,
  PRETTY,
  query,
  WRITE,
  type Parameter,
} from "./parameters.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

type Method = "get" | "put" | "post" | "delete" | "options" | "head" | "patch";

export interface Operation {
  readonly method: Method;
  readonly id: string;
  /** x-kubernetes-action; absent on discovery. */
  readonly action?: string;
  readonly tag: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  /** Type name of the body. */
  readonly body?: string;
  readonly bodyRequired?: boolean;
  /** Type name of the answer; "" for plain text. */
  readonly answer: string;
  readonly codes: readonly number[];
  readonly consumes: readonly string[];
  readonly produces: readonly string[];
}

export interface PathItem {
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

/** Resources whose delete answers with the object as it was, not with a Status. */
const RETURNS_DELETED = new Set(
  (
    "pods podtemplates persistentvolumeclaims persistentvolumes resourcequotas serviceaccounts services " +
    "deviceclasses resourceclaims resourceclaimtemplates resourceslices " +
    "csidrivers csinodes storageclasses volumeattachments volumeattributesclasses"
  ).split(" "),
);

const capital = (text: string): string =>
  text.charAt(0).toUpperCase() + text.slice(1);

/** rbac.authorization.k8s.io → RbacAuthorization; core is "Core". */
function groupWord(group: string): string {
  if (group === "") return "Core";
  return group
    .replace(/\.k8s\.io$/, "")
    .split(/[.-]/)
    .map(capital)
    .join("");
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function pathOf({
  group,
  version,
}: {
  group: string;
  version: string;
}): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Name of the type that represents a kind in definitions; kinds outside the table get one made of their group. */
function typeNameOf({ group, version, kind }: GroupVersionKind): string {
  return (
    messageNameOfKind(apiVersionOf({ group, version }), kind) ??
    `${group.split(".").reverse().join(".")}.${version}.${kind}`
  );
}

export type FeatureGates = Readonly<Record<string, boolean>>;

/** Discovery of a group version. */
export function discoveryPaths(
  group: string,
  version: string,
  gates: FeatureGates,
): PathItem[] {
  const { words, tag } = namesOf(group, version);
  return [
    discovery(
      `${pathOf({ group, version })}/`,
      `get${words}APIResources`,
      tag,
      `${META}.APIResourceList`,
      true,
    ),
  ].map((item) => finished(item, gates));
}

/** All paths of a resource in one version. */
export function resourcePaths(
  resource: ResourceInfo,
  gates: FeatureGates,
): PathItem[] {
  const { words, tag } = namesOf(resource.group, resource.version);
  const maker = new Maker(resource, pathOf(resource), words, tag);
  return [
    ...maker.collections(),
    ...maker.single(),
    ...resource.subresources
      .filter((sub) => !sub.featureGate || gates[sub.featureGate])
      .flatMap((sub) => maker.subresource(sub)),
    ...maker.watches(),
  ].map((item) => finished(item, gates));
}

/** How operations and tags name a group version. */
function namesOf(group: string, version: string) {
  const word = groupWord(group);
  return {
    words: `${word}${capital(version)}`,
    tag: `${lowerFirst(word)}_${version}`,
  };
}

const finished = (item: PathItem, gates: FeatureGates): PathItem =>
  hoisted(gates["CBORServingAndStorage"] ? item : withoutCbor(item));

/** What all operations of a path have is the path's: everything, where there is but one. */
function hoisted(item: PathItem): PathItem {
  const [only, ...others] = item.operations;
  if (!only || others.length > 0 || only.parameters.length === 0) return item;
  return {
    ...item,
    parameters: [...item.parameters, ...only.parameters].sort((a, b) =>
      a.name < b.name ? -1 : a.name > b.name ? 1 : 0,
    ),
    operations: [{ ...only, parameters: [] }],
  };
}

function withoutCbor(item: PathItem): PathItem {
  const plain = (types: readonly string[]): string[] =>
    types.filter((type) => !type.includes("cbor"));
  const operations = item.operations.map((operation) => ({
    ...operation,
    consumes: plain(operation.consumes),
    produces: plain(operation.produces),
  }));
  return { ...item, operations };
}

/** Discovery of a group, of all groups, and the version. */
export function rootPaths(catalogue: Catalogue): PathItem[] {
  const items = [
    discovery("/api/", "getCoreAPIVersions", "core", `${META}.APIVersions`),
    discovery("/apis/", "getAPIVersions", "apis", `${META}.APIGroupList`),
  ];
  const groups = new Set(catalogue.groupVersions().map(({ group }) => group));
  for (const group of groups) {
    if (group === "") continue;
    const word = groupWord(group);
    items.push(
      discovery(
        `/apis/${group}/`,
        `get${word}APIGroup`,
        lowerFirst(word),
        `${META}.APIGroup`,
      ),
    );
  }
  items.push(versionPath());
  return items;
}

function versionPath(): PathItem {
  const item = discovery(
    "/version/",
    "getCodeVersion",
    "version",
    "io.k8s.apimachinery.pkg.version.Info",
  );
  const operations = item.operations.map((operation) => ({
    ...operation,
    consumes: ["application/json"],
    produces: ["application/json"],
  }));
  return { ...item, operations };
}

function discovery(
  path: string,
  id: string,
  tag: string,
  answer: string,
  cbor = false,
): PathItem {
  const types = cbor ? PRODUCES : PRODUCES.slice(0, 3);
  return {
    path,
    parameters: [],
    operations: [
      {
        method: "get",
        id,
        tag,
        parameters: [],
        answer,
        codes: [200],
        consumes: types,
        produces: types,
      },
    ],
  };
}

class Maker {
  readonly #resource: ResourceInfo;
  readonly #base: string;
  readonly #words: string;
  readonly #tag: string;
  readonly #type: string;
  readonly #scope: string;

  constructor(
    resource: ResourceInfo,
    base: string,
    words: string,
    tag: string,
  ) {
    this.#resource = resource;
    this.#base = base;
    this.#words = words;
    this.#tag = tag;
    this.#type = typeNameOf(resource);
    this.#scope = resource.namespaced ? "Namespaced" : "";
  }

  get #kind(): GroupVersionKind {
    const { group, version, kind } = this.#resource;
    return { group, version, kind };
  }

  get #collectionPath(): string {
    const { namespaced, resource } = this.#resource;
    return namespaced ? `/namespaces/{namespace}/${resource}` : `/${resource}`;
  }

  get #pathParameters(): Parameter[] {
    return this.#resource.namespaced ? [inPath("namespace"), PRETTY] : [PRETTY];
  }

  #can(verb: string): boolean {
    return this.#resource.verbs.includes(verb);
  }

  #operation(
    method: Method,
    verb: string,
    action: string,
    rest: Partial<Operation> & { suffix?: string },
  ): Operation {
    const { suffix = "", ...fields } = rest;
    return {
      method,
      id: `${verb}${this.#words}${suffix}`,
      action,
      tag: this.#tag,
      kind: this.#kind,
      parameters: [],
      answer: this.#type,
      codes: [200],
      consumes: ANY,
      produces: PRODUCES,
      ...fields,
    };
  }

  collections(): PathItem[] {
    const { kind, namespaced, resource } = this.#resource;
    const { listKind = `${kind}List` } = this.#resource;
    const list = this.#type.slice(0, -kind.length) + listKind;
    const suffix = `${this.#scope}${kind}`;
    const operations: Operation[] = [];
    if (this.#can("deletecollection"))
      operations.push(
        this.#operation("delete", "delete", "deletecollection", {
          suffix: `Collection${suffix}`,
          parameters: [...COLLECTION, ...DELETE].sort((a, b) =>
            a.name < b.name ? -1 : 1,
          ),
          body: `${META}.DeleteOptions`,
          answer: `${META}.Status`,
        }),
      );
    const reads = { parameters: LIST, answer: list, produces: STREAMS };
    if (this.#can("list"))
      operations.push(
        this.#operation("get", "list", "list", { suffix, ...reads }),
      );
    if (this.#can("create"))
      operations.push(
        this.#operation("post", "create", "post", {
          suffix,
          parameters: WRITE,
          body: this.#type,
          bodyRequired: true,
          codes: [200, 201, 202],
        }),
      );
    const items: PathItem[] = [
      {
        path: this.#base + this.#collectionPath,
        parameters: this.#pathParameters,
        operations,
      },
    ];
    if (namespaced && this.#can("list"))
      items.push({
        path: `${this.#base}/${resource}`,
        parameters: [PRETTY],
        operations: [
          this.#operation("get", "list", "list", {
            suffix: `${kind}ForAllNamespaces`,
            ...reads,
          }),
        ],
      });
    return items.filter((item) => item.operations.length > 0);
  }

  single(): PathItem[] {
    const suffix = `${this.#scope}${this.#resource.kind}`;
    const operations = this.#objectOperations(
      this.#resource.verbs,
      suffix,
      this.#type,
      this.#kind,
    );
    if (this.#can("delete")) {
      operations.push(
        this.#operation("delete", "delete", "delete", {
          suffix,
          parameters: DELETE,
          body: `${META}.DeleteOptions`,
          answer: RETURNS_DELETED.has(this.#resource.resource)
            ? this.#type
            : `${META}.Status`,
          codes: [200, 202],
        }),
      );
    }
    if (operations.length === 0) return [];
    const parameters = [inPath("name"), ...this.#pathParameters];
    return [
      {
        path: `${this.#base}${this.#collectionPath}/{name}`,
        parameters,
        operations,
      },
    ];
  }

  #objectOperations(
    verbs: readonly string[],
    suffix: string,
    type: string,
    kind: GroupVersionKind,
  ): Operation[] {
    const operations: Operation[] = [];
    const common = { suffix, answer: type, kind };
    if (verbs.includes("get"))
      operations.push(this.#operation("get", "read", "get", common));
    if (verbs.includes("patch"))
      operations.push(
        this.#operation("patch", "patch", "patch", {
          ...common,
          parameters: [...WRITE, query("force", "boolean")],
          body: PATCH,
          bodyRequired: true,
          codes: [200, 201],
          consumes: patchesOf(this.#resource),
        }),
      );
    if (verbs.includes("update"))
      operations.push(
        this.#operation("put", "replace", "put", {
          ...common,
          parameters: WRITE,
          body: type,
          bodyRequired: true,
          codes: [200, 201],
        }),
      );
    return operations;
  }

  subresource(sub: SubresourceInfo): PathItem[] {
    const apiVersion =
      sub.apiVersion === undefined
        ? this.#resource
        : parseApiVersion(sub.apiVersion);
    const kind = {
      group: apiVersion.group,
      version: apiVersion.version,
      kind: sub.kind,
    };
    const suffix = `${this.#scope}${this.#resource.kind}${capital(sub.name)}`;
    const path = `${this.#base}${this.#collectionPath}/{name}/${sub.name}`;
    const parameters = [inPath("name"), ...this.#pathParameters];
    const connect = CONNECT[sub.kind];
    if (connect)
      return this.#connect(path, parameters, connect, sub, suffix, kind);
    const type = typeNameOf(kind);
    if (sub.name === "log") {
      const produces = ["text/plain", ...PRODUCES];
      const log = this.#operation("get", "read", "get", {
        suffix,
        parameters: LOG,
        answer: "",
        produces,
        kind,
      });
      return [{ path, parameters, operations: [log] }];
    }
    const operations = this.#objectOperations(sub.verbs, suffix, type, kind);
    if (sub.verbs.includes("create"))
      operations.push(
        this.#operation("post", "create", "post", {
          suffix,
          kind,
          parameters: WRITE,
          body: type,
          bodyRequired: true,
          answer: type,
          codes: [200, 201, 202],
        }),
      );
    return [{ path, parameters, operations }];
  }

  #connect(
    path: string,
    pathParameters: readonly Parameter[],
    options: readonly Parameter[],
    sub: SubresourceInfo,
    suffix: string,
    kind: GroupVersionKind,
  ): PathItem[] {
    const methods: readonly Method[] =
      sub.name === "proxy"
        ? ["delete", "get", "head", "options", "patch", "post", "put"]
        : ["get", "post"];
    const parameters = [
      ...options,
      ...pathParameters.filter(({ name }) => name !== "pretty"),
    ];
    const make = (withPath: boolean): Operation[] =>
      methods.map((method) =>
        this.#operation(method, "connect", "connect", {
          id: `connect${this.#words}${capital(method)}${suffix}${withPath ? "WithPath" : ""}`,
          answer: "",
          produces: ANY,
          kind,
        }),
      );
    const items: PathItem[] = [{ path, parameters, operations: make(false) }];
    if (sub.name === "proxy")
      items.push({
        path: `${path}/{path}`,
        parameters: [...parameters, inPath("path")],
        operations: make(true),
      });
    return items;
  }

  /** The deprecated watch paths. */
  watches(): PathItem[] {
    if (!this.#can("watch")) return [];
    const { kind, namespaced, resource } = this.#resource;
    const watch = (action: string, suffix: string): Operation =>
      this.#operation("get", "watch", action, {
        suffix,
        answer: `${META}.WatchEvent`,
        produces: STREAMS,
      });
    const base = `${this.#base}/watch`;
    const parameters = [...LIST, PRETTY];
    const scoped = [...LIST, ...this.#pathParameters];
    const items: PathItem[] = [
      {
        path: base + this.#collectionPath,
        parameters: scoped,
        operations: [watch("watchlist", `${this.#scope}${kind}List`)],
      },
      {
        path: `${base}${this.#collectionPath}/{name}`,
        parameters: [...scoped, inPath("name")],
        operations: [watch("watch", `${this.#scope}${kind}`)],
      },
    ];
    if (namespaced)
      items.push({
        path: `${base}/${resource}`,
        parameters,
        operations: [watch("watchlist", `${kind}ListForAllNamespaces`)],
      });
    return items;
  }
}

// Requests for resources: from parsed path and query to the registry's verb and back to bytes. Authentication,
// authorization and limits are the filters' (front.ts), connection handling the server's.
import type { OutgoingHttpHeaders } from "node:http";
import type { Duplex, Writable } from "node:stream";
import { gzip, constants as zlibConstants } from "node:zlib";
import {
  decodeJson,
  parseJson,
  strictDecodingError,
  strictError,
  type Decoded,
  type FieldValidation,
} from "../../api/codec/json.ts";
import { canonicaliseDocument, mentionsAlias } from "../../api/dialect.ts";
import { ApiError, errors } from "../../api/errors.ts";
import { schemaFor, type ObjectSchema } from "../../api/schema.ts";
import type { AnyObject } from "../../api/object.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { DeleteOptions } from "../../api/types/meta-v1.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import { Call } from "../registry/call.ts";
import { create } from "../registry/create.ts";
import { removeCollection } from "../registry/delete-collection.ts";
import { remove } from "../registry/delete.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { get } from "../registry/get.ts";
import { integer, list } from "../registry/list.ts";
import { patch, type PatchType } from "../registry/patch.ts";
import type { Registry } from "../registry/registry.ts";
import { patchSubresource, runSubresource } from "../registry/subresource.ts";
import { update } from "../registry/update.ts";
import { isTrue, watch, watchQueryOf } from "../registry/watch.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
} from "../registry/write.ts";
import type { ConnectHandler, ConnectRequest } from "./connect-handler.ts";
import type { Exchange } from "./exchange.ts";
import { readBody } from "./body.ts";
import { formatNamed, type OtherFormats } from "./formats.ts";
import type { Negotiator } from "./negotiation.ts";
import { Representation, type IncludeObject } from "./representation.ts";
import type { RequestInfo } from "./request-info.ts";
import { WatchFlusher, WatchResponse } from "./watch-response.ts";

export interface ResourceHandlerOptions {
  readonly registry: Registry;
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly decoders: BodyDecoders;
  readonly connect: ConnectHandler | undefined;
  readonly minRequestTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
  readonly compress: boolean;
}

/** Decoders of the encodings beside JSON. */
export interface BodyDecoders {
  yaml?: (
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    validation: FieldValidation,
  ) => Decoded;
  /** Any YAML document, for apply patches. */
  yamlValue?: (bytes: Buffer) => { value: unknown; problems: string[] };
  protobuf?: (
    bytes: Buffer,
    fallback?: { apiVersion: string; kind: string },
  ) => Record<string, unknown>;
  cbor?: (
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    validation: FieldValidation,
  ) => Decoded;
  cborValue?: (bytes: Buffer) => unknown;
}

/** What the filters know of a request. */
export interface Asked {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly user: UserInfo;
  /** Headers every answer has: audit id, flow control. */
  readonly headers: OutgoingHttpHeaders;
  readonly signal: () => AbortSignal;
}

const gzipThresholdBytes = 128 * 1024;
const connectSubresources = new Set([
  "exec",
  "attach",
  "portforward",
  "proxy",
  "log",
]);
const patchTypes: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
  "application/apply-patch+cbor": "apply",
};

export class ResourceHandler {
  readonly #flusher = new WatchFlusher();
  readonly #watches = new Set<() => void>();

  constructor(private readonly options: ResourceHandlerOptions) {}

  /** Ends all watches (shutdown). */
  endWatches(): void {
    for (const end of [...this.#watches]) end();
  }

  get watches(): number {
    return this.#watches.size;
  }

  async handle(exchange: Exchange, asked: Asked): Promise<void> {
    const { info, query } = asked;
    const { registry } = this.options;
    const endpoint = registry.endpoint(info.group, info.version, info.resource);
    if (!endpoint) throw pathNotFound();
    this.#checkScope(endpoint, info);
    if (info.subresource !== "") {
      const known = endpoint.info.subresources.some(
        ({ name }) => name === info.subresource,
      );
      if (!known) throw pathNotFound();
      if (connectSubresources.has(info.subresource))
        return this.#connect(exchange, asked, endpoint);
    }
    const { verb } = info;
    const writes = verb !== "get" && verb !== "list" && verb !== "watch";
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: endpoint.info.namespaced ? info.namespace : "",
      name: info.name,
      subresource: info.subresource,
      query,
      ...(writes ? this.#writeOptions(exchange, query) : {}),
    });
    const verbs =
      info.subresource === ""
        ? endpoint.info.verbs
        : endpoint.info.subresources.find(
            ({ name }) => name === info.subresource,
          )!.verbs;
    const allowed = verb === "watch" && info.name !== "" ? "watch" : verb;
    if (!verbs.includes(allowed))
      throw methodNotAllowed(endpoint, exchange.method);
    const needsName = verb === "update" || verb === "patch";
    const isCollection = info.name === "";
    if (
      needsName
        ? isCollection
        : verb === "create" && !isCollection && info.subresource === ""
    )
      throw methodNotAllowed(endpoint, exchange.method);
    switch (verb) {
      case "get": {
        const shown = this.#representation(exchange, asked, endpoint, true);
        if (
          info.subresource !== "" &&
          info.subresource !== "status" &&
          endpoint.strategy.subresources?.[info.subresource]
        )
          return this.#sendValue(
            exchange,
            asked,
            call,
            shown,
            200,
            await runSubresource(call, "get", undefined),
          );
        const found = get(call);
        const entry = found instanceof Promise ? await found : found;
        return this.#sendEntry(exchange, asked, call, shown, 200, entry);
      }
      case "list": {
        const shown = this.#representation(exchange, asked, endpoint, true);
        const listed = await list(call);
        return this.#sendParts(
          exchange,
          asked,
          shown.contentType,
          shown.list(listed),
        );
      }
      case "watch":
        return this.#watch(exchange, asked, call);
      case "create":
        return this.#create(exchange, asked, call);
      case "update":
        return this.#update(exchange, asked, call);
      case "patch":
        return this.#patch(exchange, asked, call);
      case "delete":
        return this.#delete(exchange, asked, call);
      case "deletecollection": {
        const shown = this.#representation(exchange, asked, endpoint, false);
        const options = await this.#deleteOptions(exchange, call);
        const listed = await removeCollection(call, options);
        return this.#sendParts(
          exchange,
          asked,
          shown.contentType,
          shown.list(listed),
        );
      }
      default:
        throw methodNotAllowed(endpoint, exchange.method);
    }
  }

  #checkScope(endpoint: Endpoint, info: RequestInfo): void {
    const { namespaced } = endpoint.info;
    if (
      namespaced &&
      info.namespace === "" &&
      (info.name !== "" || (info.verb === "create" && endpoint.stored))
    )
      throw pathNotFound();
    if (!namespaced && info.namespace !== "" && info.resource !== "namespaces")
      throw pathNotFound();
  }

  #writeOptions(exchange: Exchange, query: URLSearchParams) {
    const dryRun = query.getAll("dryRun").filter((value) => value !== "");
    if (dryRun.some((value) => value !== "All"))
      throw errors.invalid(
        { group: "meta.k8s.io", kind: "CreateOptions" },
        "",
        [
          {
            type: "FieldValueNotSupported",
            field: "dryRun",
            detail: `Unsupported value: ${JSON.stringify(dryRun.join(","))}: supported values: "All"`,
          },
        ],
      );
    const validation = query.get("fieldValidation") ?? "";
    if (!["", "Ignore", "Warn", "Strict"].includes(validation))
      throw errors.invalid(
        { group: "meta.k8s.io", kind: "CreateOptions" },
        "",
        [
          {
            type: "FieldValueNotSupported",
            field: "fieldValidation",
            detail: `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`,
          },
        ],
      );
    const fieldManager = query.get("fieldManager") ?? "";
    if (fieldManager.length > 128)
      throw errors.invalid(
        { group: "meta.k8s.io", kind: "CreateOptions" },
        "",
        [
          {
            type: "FieldValueTooLong",
            field: "fieldManager",
            detail: "Too long: may not be more than 128 bytes",
          },
        ],
      );
    return {
      dryRun: dryRun.length > 0,
      fieldManager,
      fieldValidation: (validation || "Warn") as FieldValidation,
      force: isTrue(query.get("force")),
      userAgent: exchange.headers["user-agent"] ?? "",
    };
  }

  #representation(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
    transforms: boolean,
  ): Representation {
    const { negotiator, formats, registry } = this.options;
    const negotiated = negotiator.negotiate(exchange.headers.accept, {
      protobuf: formats.protobuf !== undefined && endpoint.schema !== undefined,
      cbor: formats.cbor !== undefined,
      transforms,
    });
    const include = asked.query.get("includeObject") ?? "";
    return new Representation({
      negotiated,
      format: formatNamed(negotiated.format, formats),
      endpoint,
      pretty: wantsPretty(exchange, asked.query),
      includeObject: (include === "None" || include === "Object"
        ? include
        : "Metadata") as IncludeObject,
      nowMs: () => registry.clock.now(),
      alias: asked.info.alias,
    });
  }

  async #create(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { endpoint } = call;
    const shown = this.#representation(exchange, asked, endpoint, true);
    const bytes = await this.#body(exchange);
    if (call.subresource !== "") {
      const sub = endpoint.info.subresources.find(
        ({ name }) => name === call.subresource,
      )!;
      const gv = (sub.apiVersion ?? endpoint.apiVersion).split("/");
      const schema = schemaFor(
        gv.length > 1 ? gv[0]! : "",
        gv.at(-1)!,
        sub.kind,
      );
      const body = this.#decode(
        exchange,
        call,
        bytes,
        schema,
        sub.apiVersion ?? endpoint.apiVersion,
        sub.kind,
      );
      return this.#sendValue(
        exchange,
        asked,
        call,
        shown,
        201,
        await runSubresource(call, "create", body),
      );
    }
    const body = this.#decode(
      exchange,
      call,
      bytes,
      endpoint.schema,
      endpoint.apiVersion,
      endpoint.info.kind,
    );
    const { virtual } = endpoint.strategy;
    if (virtual)
      return this.#sendValue(
        exchange,
        asked,
        call,
        shown,
        201,
        await virtual.create(body, call),
      );
    if (!endpoint.stored) throw methodNotAllowed(endpoint, exchange.method);
    return this.#sendEntry(
      exchange,
      asked,
      call,
      shown,
      201,
      await create(call, body),
    );
  }

  async #update(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { endpoint } = call;
    const shown = this.#representation(exchange, asked, endpoint, true);
    const bytes = await this.#body(exchange);
    if (call.subresource !== "" && call.subresource !== "status") {
      const sub = endpoint.info.subresources.find(
        ({ name }) => name === call.subresource,
      )!;
      const gv = (sub.apiVersion ?? endpoint.apiVersion).split("/");
      const schema = schemaFor(
        gv.length > 1 ? gv[0]! : "",
        gv.at(-1)!,
        sub.kind,
      );
      const body = this.#decode(
        exchange,
        call,
        bytes,
        schema,
        sub.apiVersion ?? endpoint.apiVersion,
        sub.kind,
      );
      return this.#sendValue(
        exchange,
        asked,
        call,
        shown,
        200,
        await runSubresource(call, "update", body),
      );
    }
    const body = this.#decode(
      exchange,
      call,
      bytes,
      endpoint.schema,
      endpoint.apiVersion,
      endpoint.info.kind,
    );
    const { entry, created } = await update(call, body);
    return this.#sendEntry(
      exchange,
      asked,
      call,
      shown,
      created ? 201 : 200,
      entry,
    );
  }

  async #patch(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const shown = this.#representation(exchange, asked, call.endpoint, true);
    const contentType = mediaType(exchange.headers["content-type"]);
    const type = patchTypes[contentType];
    if (!type || (contentType.endsWith("+cbor") && !this.options.decoders.cbor))
      throw errors.unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: ${Object.keys(
          patchTypes,
        )
          .filter(
            (name) => !name.endsWith("+cbor") || this.options.decoders.cbor,
          )
          .join(", ")}`,
      );
    if (type !== "apply" && call.query.has("force"))
      throw errors.invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
        {
          type: "FieldValueForbidden",
          field: "force",
          detail: "Forbidden: may not be specified for non-apply patch",
        },
      ]);
    const bytes = await this.#body(exchange);
    const document = this.#patchDocument(call, contentType, bytes);
    if (
      call.subresource !== "" &&
      call.subresource !== "status" &&
      call.endpoint.strategy.subresources?.[call.subresource]
    ) {
      const value = await patchSubresource(call, type, document);
      return this.#sendValue(exchange, asked, call, shown, 200, value);
    }
    const { entry, created } = await patch(call, type, document);
    return this.#sendEntry(
      exchange,
      asked,
      call,
      shown,
      created ? 201 : 200,
      entry,
    );
  }

  #patchDocument(call: Call, contentType: string, bytes: Buffer): unknown {
    const { decoders } = this.options;
    let value: unknown;
    let problems: readonly string[] = [];
    if (contentType === "application/apply-patch+cbor")
      value = decoders.cborValue!(bytes);
    else if (
      contentType === "application/apply-patch+yaml" &&
      decoders.yamlValue &&
      !looksLikeJson(bytes)
    ) {
      ({ value, problems } = decoders.yamlValue(bytes));
    } else {
      const parsed = parseJson(bytes);
      value = parsed.value;
      problems = parsed.duplicates.map(
        (path) => `duplicate field ${JSON.stringify(path)}`,
      );
    }
    this.#judge(call, problems);
    if (mentionsAlias(bytes)) canonicaliseDocument(value);
    if (
      contentType.startsWith("application/apply-patch") &&
      (typeof value !== "object" || value === null || Array.isArray(value))
    )
      throw errors.badRequest(
        "error decoding YAML: the patch is not an object",
      );
    return value;
  }

  async #delete(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const shown = this.#representation(exchange, asked, call.endpoint, true);
    const options = await this.#deleteOptions(exchange, call);
    const { entry, gone } = await remove(call, options);
    const accepted = !gone && options.orphanDependents === false;
    if (!gone || returnsDeleted.has(call.endpoint.info.resource))
      return this.#sendEntry(
        exchange,
        asked,
        call,
        shown,
        accepted ? 202 : 200,
        entry,
      );
    const { group, resource } = call.endpoint.info;
    return this.#sendValue(exchange, asked, call, shown, 200, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: call.name,
        ...(group ? { group } : {}),
        kind: resource,
        uid: entry.raw.metadata.uid,
      },
    });
  }

  async #deleteOptions(exchange: Exchange, call: Call): Promise<DeleteOptions> {
    const bytes = await this.#body(exchange);
    const { query } = call;
    let options: DeleteOptions = {};
    if (bytes.length > 0) {
      const schema = schemaFor("", "v1", "DeleteOptions");
      options = this.#decode(
        exchange,
        call,
        bytes,
        schema,
        "",
        "DeleteOptions",
      ) as unknown as DeleteOptions;
    } else {
      const grace = query.get("gracePeriodSeconds");
      if (grace)
        options.gracePeriodSeconds = integer(grace, "gracePeriodSeconds");
      const policy = query.get("propagationPolicy");
      if (policy) options.propagationPolicy = policy;
      const orphans = query.get("orphanDependents");
      if (orphans !== null) options.orphanDependents = isTrue(orphans);
    }
    if (options.dryRun?.length) Object.assign(call, { dryRun: true });
    return options;
  }

  #body(exchange: Exchange): Promise<Buffer> {
    return readBody(exchange.body, exchange.headers["content-length"]);
  }

  #decode(
    exchange: Exchange,
    call: Call,
    bytes: Buffer,
    schema: ObjectSchema | undefined,
    apiVersion: string,
    kind: string,
  ): AnyObject {
    const type = mediaType(exchange.headers["content-type"]);
    const fieldValidation = call.options.fieldValidation ?? "Warn";
    const { decoders } = this.options;
    let decoded: Decoded;
    if (type === "" || type === "application/json" || type === "*/*") {
      decoded = decodeJson(bytes, schema, { fieldValidation });
    } else if (type === "application/yaml" && decoders.yaml) {
      decoded = decoders.yaml(bytes, schema, fieldValidation);
    } else if (
      (type === "application/vnd.kubernetes.protobuf" ||
        type === "application/vnd.orbit.protobuf") &&
      decoders.protobuf &&
      schema
    ) {
      decoded = {
        object: decoders.protobuf(bytes, {
          apiVersion: apiVersion || "v1",
          kind,
        }),
        problems: [],
      };
    } else if (type === "application/cbor" && decoders.cbor) {
      decoded = decoders.cbor(bytes, schema, fieldValidation);
    } else {
      throw errors.unsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      );
    }
    this.#judge(
      call,
      decoded.problems,
      schema &&
        decoded.problems.length > 0 &&
        strictError(decoded.object, schema, decoded.problems),
    );
    const object = decoded.object as AnyObject;
    if (mentionsAlias(bytes)) canonicaliseDocument(object);
    if (apiVersion !== "") {
      if (
        object.kind !== undefined &&
        object.kind !== "" &&
        object.kind !== kind
      )
        throw errors.badRequest(
          `${object.kind} in version ${JSON.stringify(versionPart(object.apiVersion))} cannot be handled as a ${kind}: converting (${object.apiVersion ?? ""}.${object.kind}) to (${apiVersion}.${kind}): unknown conversion`,
        );
      if (object.apiVersion && object.apiVersion !== apiVersion)
        throw errors.badRequest(
          `the API version in the data (${object.apiVersion}) does not match the expected API version (${apiVersion})`,
        );
      object.kind = kind;
      object.apiVersion = apiVersion;
      object.metadata ??= {} as AnyObject["metadata"];
    }
    return object;
  }

  /** `refusal` is the 400 of Strict where more than the problems is known. */
  #judge(
    call: Call,
    problems: readonly string[],
    refusal?: ApiError | false,
  ): void {
    if (problems.length === 0) return;
    const mode = call.options.fieldValidation ?? "Warn";
    if (mode === "Strict")
      throw refusal || errors.badRequest(strictDecodingError(problems));
    if (mode === "Warn") for (const problem of problems) call.warn(problem);
  }

  async #watch(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { registry, minRequestTimeoutMs, bookmarkIntervalMs } = this.options;
    const shown = this.#representation(exchange, asked, call.endpoint, true);
    const query = watchQueryOf(call.query);
    const fieldSelector =
      call.name === ""
        ? query.fieldSelector
        : [query.fieldSelector, `metadata.name=${call.name}`]
            .filter(Boolean)
            .join(",");
    const response = new WatchResponse(
      shown,
      this.#flusher,
      exchange.chunks,
      () => exchange.destroy(),
    );
    const asksSeconds = integer(
      call.query.get("timeoutSeconds"),
      "timeoutSeconds",
    );
    let opened;
    try {
      opened = await watch(call, { ...query, fieldSelector }, response);
    } catch (error) {
      // What history has lost is told inside the stream, as the reference does.
      if (!(error instanceof ApiError) || error.code !== 410) throw error;
      const out = exchange.open(200, this.#streamHeaders(asked, shown));
      out.end(shown.error(error.status));
      return;
    }
    const live = opened;
    if (exchange.closed) return live.close();
    const stream = exchange.stream(200, this.#streamHeaders(asked, shown));
    const timeoutMs =
      asksSeconds > 0
        ? asksSeconds * 1000
        : minRequestTimeoutMs * (1 + Math.random());
    const finish = (): void => {
      response.end();
      close();
    };
    const timer = registry.clock.after(timeoutMs, () => {
      live.bookmark();
      finish();
    });
    let bookmarks = registry.clock.after(bookmarkIntervalMs, tick);
    function tick(): void {
      live.bookmark();
      bookmarks = registry.clock.after(bookmarkIntervalMs, tick);
    }
    const close = (): void => {
      timer.cancel();
      bookmarks.cancel();
      live.close();
      response.close();
      this.#watches.delete(finish);
    };
    this.#watches.add(finish);
    exchange.onClose(close);
    stream.out.on("error", close);
    response.attach(stream);
  }

  #streamHeaders(asked: Asked, shown: Representation): OutgoingHttpHeaders {
    return {
      ...asked.headers,
      "content-type": shown.streamType,
      "cache-control": "no-cache, private",
    };
  }

  async #connect(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
  ): Promise<void> {
    const { connect } = this.options;
    if (!connect)
      throw errors.unavailable("this server does not proxy to nodes");
    const request = await this.#connectRequest(
      exchange.method,
      exchange.headers,
      exchange.peer.remoteAddress,
      asked,
      endpoint,
    );
    await connect.serve(request, exchange.body, {
      start: (status, headers) =>
        exchange.open(status, { ...asked.headers, ...headers }),
    });
  }

  /** HTTP/1.1 upgrades: exec, attach, port-forward, proxy; and watches over WebSocket. */
  async upgrade(
    exchange: Exchange,
    asked: Asked,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { info } = asked;
    const endpoint = this.options.registry.endpoint(
      info.group,
      info.version,
      info.resource,
    );
    const { connect } = this.options;
    if (!endpoint || !connectSubresources.has(info.subresource))
      throw pathNotFound();
    if (!connect)
      throw errors.unavailable("this server does not proxy to nodes");
    const request = await this.#connectRequest(
      exchange.method,
      exchange.headers,
      exchange.peer.remoteAddress,
      asked,
      endpoint,
    );
    await connect.upgrade(request, socket, head);
  }

  /** The seam's request after CONNECT admission; also used for upgrades. */
  async #connectRequest(
    method: string,
    headers: ConnectRequest["headers"],
    remoteAddress: string,
    asked: Asked,
    endpoint: Endpoint,
  ): Promise<ConnectRequest> {
    const { info } = asked;
    const { registry } = this.options;
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: info.namespace,
      name: info.name,
      subresource: info.subresource,
      query: asked.query,
    });
    if (info.subresource !== "log") {
      const attributes = admissionAttributes(
        call,
        "CONNECT",
        undefined,
        undefined,
      );
      await admit(call, attributes);
      await validateAdmission(call, attributes);
    }
    return {
      method,
      group: info.group,
      version: info.version,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
      proxyPath: info.rest,
      query: asked.query,
      rawQuery: asked.rawQuery,
      headers,
      user: asked.user,
      remoteAddress,
      signal: asked.signal(),
      read: (group, resource, namespace, name) =>
        registry.read(group, resource, namespace, name),
    };
  }

  #sendEntry(
    exchange: Exchange,
    asked: Asked,
    call: Call,
    shown: Representation,
    status: number,
    entry: CacheEntry,
  ): void | Promise<void> {
    return this.#send(
      exchange,
      asked,
      call,
      status,
      shown.contentType,
      shown.entry(entry),
    );
  }

  #sendValue(
    exchange: Exchange,
    asked: Asked,
    call: Call,
    shown: Representation,
    status: number,
    value: object,
  ): void | Promise<void> {
    return this.#send(
      exchange,
      asked,
      call,
      status,
      shown.contentType,
      shown.value(value),
    );
  }

  #send(
    exchange: Exchange,
    asked: Asked,
    call: Call,
    status: number,
    contentType: string,
    body: Buffer,
  ): void | Promise<void> {
    const { headers } = asked;
    headers["content-type"] = contentType;
    headers["cache-control"] = "no-cache, private";
    if (call.warnings.length > 0)
      (headers as Record<string, unknown>)["warning"] = warningHeaders(
        call.warnings,
      );
    if (body.length > gzipThresholdBytes && this.#compresses(exchange))
      return this.#sendGzip(exchange, asked, [body]);
    exchange.respond(status, headers, body);
  }

  #sendParts(
    exchange: Exchange,
    asked: Asked,
    contentType: string,
    parts: Uint8Array[],
  ): void | Promise<void> {
    const { headers } = asked;
    headers["content-type"] = contentType;
    headers["cache-control"] = "no-cache, private";
    let bytes = 0;
    for (const part of parts) bytes += part.byteLength;
    if (bytes > gzipThresholdBytes && this.#compresses(exchange))
      return this.#sendGzip(exchange, asked, parts);
    if (parts.length === 1) return exchange.respond(200, headers, parts[0]!);
    if (bytes < 65536 || exchange.method === "HEAD")
      return exchange.respond(200, headers, Buffer.concat(parts, bytes));
    headers["content-length"] = bytes;
    return writeParts(exchange.open(200, headers), parts);
  }

  #compresses(exchange: Exchange): boolean {
    return (
      this.options.compress &&
      exchange.method === "GET" &&
      /\bgzip\b(?!;q=0(?:[,;\s]|$))/.test(
        String(exchange.headers["accept-encoding"] ?? ""),
      )
    );
  }

  async #sendGzip(
    exchange: Exchange,
    asked: Asked,
    parts: readonly Uint8Array[],
  ): Promise<void> {
    const { headers } = asked;
    const body = await new Promise<Buffer>((resolve, reject) =>
      gzip(
        parts.length === 1 ? parts[0]! : Buffer.concat(parts),
        { level: 1, strategy: zlibConstants.Z_DEFAULT_STRATEGY, memLevel: 9 },
        (error, result) => (error ? reject(error) : resolve(result)),
      ),
    );
    headers["content-encoding"] = "gzip";
    headers["vary"] = "Accept-Encoding";
    exchange.respond(200, headers, body);
  }
}

/** Kinds whose delete answers with the object instead of a Status. */
const returnsDeleted = new Set([
  "pods",
  "services",
  "serviceaccounts",
  "persistentvolumes",
  "persistentvolumeclaims",
  "podtemplates",
  "resourcequotas",
]);

export async function writeParts(
  out: Writable,
  parts: readonly Uint8Array[],
): Promise<void> {
  for (const part of parts) {
    if (out.destroyed) return;
    if (!out.write(part))
      await new Promise<void>((resolve) => {
        const done = (): void => {
          out.off("drain", done);
          out.off("close", done);
          resolve();
        };
        out.once("drain", done);
        out.once("close", done);
      });
  }
  out.end();
}

export function warningHeaders(texts: readonly string[]): string[] {
  const headers: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const header = `299 - ${JSON.stringify(text.replace(/[^\x20-\x7e]/g, "?"))}`;
    bytes += header.length;
    if (bytes > 4096) break;
    headers.push(header);
  }
  return headers;
}

export function wantsPretty(
  exchange: Exchange,
  query: URLSearchParams,
): boolean {
  const asked = query.get("pretty");
  if (asked !== null) return isTrue(asked) || asked === "";
  const agent = exchange.headers["user-agent"];
  return agent !== undefined && /^(curl|Wget|Mozilla)/.test(agent);
}

/** The reference's answer for a path nothing is served at. */
export function pathNotFound(): ApiError {
  return new ApiError({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}

function methodNotAllowed(endpoint: Endpoint, _method: string): ApiError {
  const { group, resource } = endpoint.info;
  return new ApiError({
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
    details: { ...(group ? { group } : {}), kind: resource },
  });
}

function mediaType(header: string | undefined): string {
  if (!header) return "";
  const semicolon = header.indexOf(";");
  return (semicolon < 0 ? header : header.slice(0, semicolon))
    .trim()
    .toLowerCase();
}

function looksLikeJson(bytes: Buffer): boolean {
  for (const byte of bytes.subarray(0, 64)) {
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
      continue;
    return byte === 0x7b;
  }
  return false;
}

function versionPart(apiVersion: string | undefined): string {
  return (apiVersion ?? "").split("/").at(-1)!;
}

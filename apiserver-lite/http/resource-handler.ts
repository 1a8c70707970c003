// Requests for resources: from parsed path and query to the registry's verb and back to bytes. Authentication,
// authorization and limits are the filters' (front.ts), connection handling the server's.
import type { Duplex } from "node:stream";
import type { Authorizer } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";
import { Call } from "../registry/call.ts";
import { create } from "../registry/create.ts";
import { removeCollection } from "../registry/delete-collection.ts";
import { remove } from "../registry/delete.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import { get } from "../registry/get.ts";
import { list } from "../registry/list.ts";
import { patch } from "../registry/patch.ts";
import type { PatchText } from "../registry/patch-text.ts";
import type { Registry } from "../registry/registry.ts";
import { patchSubresource, runSubresource } from "../registry/subresource.ts";
import {
  asksForced,
  removeUnreadable,
  unsafeDeleteVerb,
} from "../registry/unreadable.ts";
import { update } from "../registry/update.ts";
import { addWarnings, Answers, wantsPretty, type Asked } from "./answers.ts";
import { Bodies, type BodyDecoders } from "./bodies.ts";
import type { ConnectHandler } from "./connect-handler.ts";
import { connectSubresources, ConnectServing } from "./connect-serving.ts";
import { Http1Exchange, type Exchange } from "./exchange.ts";
import { forbidden } from "./forbidden.ts";
import { formatNamed, type OtherFormats } from "./formats.ts";
import type { Negotiated, Negotiator } from "./negotiation.ts";
import { patchTypeOf, type AskedPatch } from "./patch-types.ts";
import { writeOptionsOf } from "./write-options.ts";
import { Representation, type IncludeObject } from "./representation.ts";
import type { RequestInfo } from "./request-info.ts";
import { ResourceRoutes } from "./resource-route.ts";
import {
  checkRoute,
  methodNotAllowed,
  pageNotFound,
  pathNotFound,
} from "./route.ts";
import { WatchServing } from "./watch-serving.ts";

export interface ResourceHandlerOptions {
  readonly registry: Registry;
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly decoders: BodyDecoders;
  readonly connect: ConnectHandler | undefined;
  readonly authorizer: Authorizer | undefined;
  readonly minRequestTimeoutMs: number;
  readonly bookmarkIntervalMs: number;
  readonly compress: boolean;
}

export class ResourceHandler {
  readonly #answers: Answers;
  readonly #bodies: Bodies;
  readonly #watches: WatchServing;
  readonly #connect: ConnectServing;
  readonly #routes: ResourceRoutes;

  constructor(private readonly options: ResourceHandlerOptions) {
    this.#answers = new Answers(options.compress);
    this.#bodies = new Bodies(options.decoders);
    this.#watches = new WatchServing(options);
    this.#connect = new ConnectServing(options.registry, options.connect);
    this.#routes = new ResourceRoutes({
      protobuf: options.formats.protobuf !== undefined,
      cbor: options.formats.cbor !== undefined,
    });
  }

  /** Ends all watches (shutdown), spread over `overMs`. */
  endWatches(overMs = 0): void {
    this.#watches.endAll(overMs);
  }

  get watches(): number {
    return this.#watches.size;
  }

  /** HTTP/1.1 upgrades: exec, attach, port-forward, proxy, and watches over WebSocket. */
  async upgrade(
    exchange: Exchange,
    asked: Asked,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { info } = asked;
    if (info.verb !== "watch" || !(exchange instanceof Http1Exchange))
      return this.#connect.upgrade(exchange, asked, socket, head);
    const { registry } = this.options;
    const endpoint = this.#endpointOf(exchange, info);
    if (!endpoint.info.verbs.includes("watch")) throw pathNotFound();
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: endpoint.info.namespaced ? info.namespace : "",
      name: info.name,
      query: asked.query,
    });
    const shown = this.#representation(exchange, asked, endpoint, true);
    return this.#watches.serveSocket(exchange, call, shown, socket, head);
  }

  async handle(exchange: Exchange, asked: Asked): Promise<void> {
    const { info, query } = asked;
    const { registry } = this.options;
    const endpoint = this.#endpointOf(exchange, info);
    if (connectSubresources.has(info.subresource))
      return this.#connect.serve(exchange, asked, endpoint);
    if (info.name !== "" && endpoint.stored) checkPathName(info.name);
    const { verb } = info;
    const writes = verb !== "get" && verb !== "list" && verb !== "watch";
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: endpoint.info.namespaced ? info.namespace : "",
      name: info.name,
      subresource: info.subresource,
      query,
      trail: asked.trail,
      authorizer: this.options.authorizer,
      ...(writes
        ? {
            // A delete's are in its body as well, and are read with it.
            ...(verb.startsWith("delete")
              ? {}
              : writeOptionsOf(
                  query,
                  verb,
                  verb === "patch" ? this.#patchType(exchange).type : undefined,
                )),
            userAgent: exchange.headers["user-agent"] ?? "",
          }
        : {}),
    });
    try {
      return await this.#answer(exchange, asked, call);
    } catch (error) {
      addWarnings(asked, call.warnings);
      throw error;
    }
  }

  async #answer(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { info } = asked;
    const { endpoint } = call;
    switch (info.verb) {
      case "get": {
        const shown = this.#representation(exchange, asked, endpoint);
        if (
          !endpoint.isObject(info.subresource) &&
          endpoint.strategy.subresources?.[info.subresource]
        )
          return this.#answers.sendValue(
            exchange,
            asked,
            call,
            shown,
            200,
            await runSubresource(call, "get", undefined),
          );
        const found = get(call);
        const entry = found instanceof Promise ? await found : found;
        return this.#answers.sendEntry(
          exchange,
          asked,
          call,
          shown,
          200,
          entry,
        );
      }
      case "list": {
        const shown = this.#representation(exchange, asked, endpoint);
        const listed = await list(call);
        // Lists have no warnings but those of computed resources.
        if (endpoint.strategy.computed) addWarnings(asked, call.warnings);
        const key =
          shown.cacheable && listed.revision > 0
            ? `${exchange.url}|${exchange.headers.accept}|${listed.revision}`
            : undefined;
        const { contentType } = shown;
        if (
          key &&
          (await this.#answers.sendKept(exchange, asked, contentType, key))
        )
          return;
        return this.#answers.sendParts(
          exchange,
          asked,
          contentType,
          shown.list(listed),
          key,
        );
      }
      case "watch":
        return this.#watches.serve(
          exchange,
          asked,
          call,
          this.#representation(exchange, asked, endpoint, true),
        );
      case "create":
        return this.#create(exchange, asked, call);
      case "update":
        return this.#update(exchange, asked, call);
      case "patch":
        return this.#patch(exchange, asked, call);
      case "delete":
        return this.#delete(exchange, asked, call);
      case "deletecollection": {
        const shown = this.#representation(exchange, asked, endpoint);
        const options = await this.#bodies.deleteOptions(exchange, call);
        const listed = await removeCollection(call, options);
        return this.#answers.sendParts(
          exchange,
          asked,
          shown.contentType,
          shown.list(listed),
        );
      }
      default:
        throw methodNotAllowed();
    }
  }

  /** What is asked for, when it is there and takes and gives what it should. */
  #endpointOf(exchange: Exchange, info: RequestInfo): Endpoint {
    const { group, version, resource } = info;
    const { registry } = this.options;
    const endpoint = registry.endpoint(group, version, resource);
    if (!endpoint)
      throw registry.servesGroup(group) ? pathNotFound() : pageNotFound();
    const place = this.#routes.place(endpoint, info);
    if (!place) throw pathNotFound();
    const route = place[exchange.method];
    if (!route) throw methodNotAllowed();
    checkRoute(exchange, route);
    return endpoint;
  }

  #representation(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
    stream = false,
  ): Representation {
    const { negotiator, formats, registry } = this.options;
    const { subresource } = asked.info;
    const negotiated = negotiator.negotiate(exchange.headers.accept, {
      protobuf: formats.protobuf !== undefined && endpoint.schema !== undefined,
      cbor: formats.cbor !== undefined,
      table:
        !endpoint.strategy.virtual &&
        (endpoint.isObject(subresource) || subresource === "scale"),
      partial: true,
      stream,
    });
    return new Representation({
      negotiated,
      format: formatNamed(negotiated.format, formats),
      endpoint,
      pretty: negotiated.pretty || wantsPretty(exchange, asked.query),
      includeObject: includeObjectOf(negotiated, asked.query),
      nowMs: () => registry.clock.now(),
      alias: asked.info.alias,
    });
  }

  async #create(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { endpoint } = call;
    const shown = this.#representation(exchange, asked, endpoint);
    const body = await this.#body(exchange, asked, call);
    const answers = this.#answers;
    const { virtual } = endpoint.strategy;
    const binding = endpoint.info.kind === "Binding";
    if (virtual && endpoint.info.namespaced)
      body.metadata.namespace ||= call.namespace;
    if (call.subresource !== "" || virtual || binding) {
      const made = virtual
        ? await virtual.create(body, call)
        : await runSubresource(
            binding ? bindingOf(call, body) : call,
            "create",
            body,
          );
      return answers.sendValue(exchange, asked, call, shown, 201, made);
    }
    if (!endpoint.stored) throw methodNotAllowed();
    const entry = await create(call, body);
    return answers.sendEntry(exchange, asked, call, shown, 201, entry);
  }

  async #update(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { endpoint, subresource } = call;
    const shown = this.#representation(exchange, asked, endpoint);
    const body = await this.#body(exchange, asked, call);
    if (!body.metadata.name)
      throw errors.badRequest(
        `the name of the object (${call.name} based on URL) was undeterminable: name must be provided`,
      );
    const answers = this.#answers;
    if (!endpoint.isObject(subresource)) {
      const value = await runSubresource(call, "update", body);
      return answers.sendValue(exchange, asked, call, shown, 200, value);
    }
    const { entry, created } = await update(call, body);
    const status = created ? 201 : 200;
    return answers.sendEntry(exchange, asked, call, shown, status, entry);
  }

  /** The body as an object of the kind that is written here: the subresource's, or the resource's own. */
  async #body(
    exchange: Exchange,
    asked: Asked,
    call: Call,
  ): Promise<AnyObject> {
    const bytes = await this.#bodies.read(exchange);
    const { endpoint, subresource } = call;
    const sub = endpoint.info.subresources.find(
      ({ name }) => name === subresource,
    );
    const { kind } = sub ?? endpoint.info;
    const apiVersion = sub?.apiVersion ?? endpoint.apiVersion;
    const { group, version } = parseApiVersion(apiVersion);
    const schema = sub ? schemaFor(group, version, kind) : endpoint.schema;
    const body = this.#bodies.decode(
      exchange,
      call,
      bytes,
      schema,
      apiVersion,
      kind,
    );
    asked.trail?.received(body);
    return body;
  }

  #patchType({ headers }: Exchange): AskedPatch {
    return patchTypeOf(headers["content-type"], this.#bodies.cbor);
  }

  async #patch(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const shown = this.#representation(exchange, asked, call.endpoint);
    const { type, mediaType } = this.#patchType(exchange);
    const bytes = await this.#bodies.read(exchange);
    asked.trail?.receivedPatch(bytes, mediaType);
    let text: PatchText | undefined;
    const read = (): PatchText =>
      (text ??= this.#bodies.patchText(call, type, mediaType, bytes));
    if (
      !call.endpoint.isObject(call.subresource) &&
      call.endpoint.strategy.subresources?.[call.subresource]
    ) {
      const value = await patchSubresource(call, type, read);
      return this.#answers.sendValue(exchange, asked, call, shown, 200, value);
    }
    const { entry, created } = await patch(call, type, read);
    return this.#answers.sendEntry(
      exchange,
      asked,
      call,
      shown,
      created ? 201 : 200,
      entry,
    );
  }

  async #delete(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const shown = this.#representation(exchange, asked, call.endpoint);
    const options = await this.#bodies.deleteOptions(exchange, call);
    if (asksForced(call, options)) {
      await this.#authorizeForced(asked);
      await removeUnreadable(call);
      const status = deletedStatus(call, undefined);
      return this.#answers.sendValue(exchange, asked, call, shown, 200, status);
    }
    const { entry, gone } = await remove(call, options);
    const accepted = !gone && options.orphanDependents === false;
    if (!gone || returnsDeleted.has(call.endpoint.info.resource))
      return this.#answers.sendEntry(
        exchange,
        asked,
        call,
        shown,
        accepted ? 202 : 200,
        entry,
      );
    const status = deletedStatus(call, entry.raw.metadata.uid);
    return this.#answers.sendValue(exchange, asked, call, shown, 200, status);
  }

  async #authorizeForced({ info, user }: Asked): Promise<void> {
    const attributes = {
      user,
      ...info,
      verb: unsafeDeleteVerb,
    };
    const answer = await this.options.authorizer?.authorize(attributes);
    if (answer && answer.decision !== "allow")
      throw forbidden(attributes, answer.reason);
  }
}

/** A Binding of the resource of old is one of the pod it names. */
function bindingOf({ registry, options }: Call, body: AnyObject): Call {
  const { name = "" } = body.metadata;
  const endpoint = registry.endpoint("", "v1", "pods")!;
  return new Call(registry, {
    ...options,
    endpoint,
    name,
    subresource: "binding",
  });
}

function deletedStatus(call: Call, uid: string | undefined): object {
  const { group, resource } = call.endpoint.info;
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: call.name,
      ...(group ? { group } : {}),
      kind: resource,
      ...(uid ? { uid } : {}),
    },
  };
}

/** Kinds whose delete answers with the object instead of a Status. */
const returnsDeleted = new Set([
  "pods",
  "services",
  "serviceaccounts",
  "persistentvolumes",
  "storageclasses",
  "csidrivers",
  "csinodes",
  "volumeattachments",
  "persistentvolumeclaims",
  "podtemplates",
  "resourcequotas",
]);

/** Throws ApiError 400: no object can have this name. */
function checkPathName(name: string): void {
  const problem =
    name === "." || name === ".."
      ? `may not be '${name}'`
      : name.includes("%")
        ? "may not contain '%'"
        : undefined;
  if (problem)
    throw errors.badRequest(
      `Name parameter invalid: ${JSON.stringify(name)}: ${problem}`,
    );
}

/** Throws ApiError 400. */
function includeObjectOf(
  { as }: Negotiated,
  query: URLSearchParams,
): IncludeObject {
  const asked = (as === "Table" && query.get("includeObject")) || "Metadata";
  if (asked === "None" || asked === "Object" || asked === "Metadata")
    return asked;
  throw errors.badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(asked)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

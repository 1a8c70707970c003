// Requests for resources: from parsed path and query to the registry's verb and back to bytes. Authentication,
// authorization and limits are the filters' (front.ts), connection handling the server's.
import type { Duplex } from "node:stream";
import type { Authorizer } from "../../api/contracts.ts";
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
import {
  addWarnings,
  Answers,
  methodNotAllowed,
  pathNotFound,
  wantsPretty,
  type Asked,
} from "./answers.ts";
import { Bodies, type BodyDecoders } from "./bodies.ts";
import type { ConnectHandler } from "./connect-handler.ts";
import { connectSubresources, ConnectServing } from "./connect-serving.ts";
import { Http1Exchange, type Exchange } from "./exchange.ts";
import { forbidden } from "./forbidden.ts";
import { formatNamed, type OtherFormats } from "./formats.ts";
import type { Negotiator } from "./negotiation.ts";
import { patchTypeOf, type AskedPatch } from "./patch-types.ts";
import { writeOptionsOf } from "./write-options.ts";
import { Representation, type IncludeObject } from "./representation.ts";
import type { RequestInfo } from "./request-info.ts";
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

  constructor(private readonly options: ResourceHandlerOptions) {
    this.#answers = new Answers(options.compress);
    this.#bodies = new Bodies(options.decoders);
    this.#watches = new WatchServing(options);
    this.#connect = new ConnectServing(options.registry, options.connect);
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
    const endpoint = registry.endpoint(info.group, info.version, info.resource);
    if (!endpoint?.info.verbs.includes("watch")) throw pathNotFound();
    this.#checkScope(endpoint, info);
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
    const endpoint = registry.endpoint(info.group, info.version, info.resource);
    if (!endpoint) throw pathNotFound();
    this.#checkScope(endpoint, info);
    if (info.subresource !== "") {
      const known = endpoint.info.subresources.some(
        ({ name }) => name === info.subresource,
      );
      if (!known) throw pathNotFound();
      if (connectSubresources.has(info.subresource))
        return this.#connect.serve(exchange, asked, endpoint);
    }
    const { verb } = info;
    const verbs =
      info.subresource === ""
        ? endpoint.info.verbs
        : endpoint.info.subresources.find(
            ({ name }) => name === info.subresource,
          )!.verbs;
    const allowed = verb === "watch" && info.name !== "" ? "watch" : verb;
    if (!verbs.includes(allowed)) throw methodNotAllowed(endpoint);
    const needsName = verb === "update" || verb === "patch";
    const isCollection = info.name === "";
    if (
      needsName
        ? isCollection
        : verb === "create" && !isCollection && info.subresource === ""
    )
      throw methodNotAllowed(endpoint);
    const writes = verb !== "get" && verb !== "list" && verb !== "watch";
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: endpoint.info.namespaced ? info.namespace : "",
      name: info.name,
      subresource: info.subresource,
      query,
      trail: asked.trail,
      ...(writes
        ? {
            ...writeOptionsOf(
              query,
              verb,
              verb === "patch" ? this.#patchType(exchange).type : undefined,
            ),
            userAgent: exchange.headers["user-agent"] ?? "",
          }
        : {}),
    });
    try {
      return await this.#answer(exchange, asked, call);
    } catch (error) {
      addWarnings(asked, call);
      throw error;
    }
  }

  async #answer(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const { info } = asked;
    const { endpoint } = call;
    switch (info.verb) {
      case "get": {
        const shown = this.#representation(exchange, asked, endpoint, true);
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
        const shown = this.#representation(exchange, asked, endpoint, true);
        const listed = await list(call);
        // Lists have no warnings but those of computed resources.
        if (endpoint.strategy.computed) addWarnings(asked, call);
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
        const shown = this.#representation(exchange, asked, endpoint, false);
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
        throw methodNotAllowed(endpoint);
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
    // Reviews, tokens, bindings … have no rows to show.
    const rows = !endpoint.strategy.virtual && call.subresource === "";
    const shown = this.#representation(exchange, asked, endpoint, rows);
    const bytes = await this.#bodies.read(exchange);
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
      const body = this.#bodies.decode(
        exchange,
        call,
        bytes,
        schema,
        sub.apiVersion ?? endpoint.apiVersion,
        sub.kind,
      );
      asked.trail?.received(body);
      return this.#answers.sendValue(
        exchange,
        asked,
        call,
        shown,
        201,
        await runSubresource(call, "create", body),
      );
    }
    const body = this.#bodies.decode(
      exchange,
      call,
      bytes,
      endpoint.schema,
      endpoint.apiVersion,
      endpoint.info.kind,
    );
    asked.trail?.received(body);
    const { virtual } = endpoint.strategy;
    if (virtual)
      return this.#answers.sendValue(
        exchange,
        asked,
        call,
        shown,
        201,
        await virtual.create(body, call),
      );
    if (!endpoint.stored) throw methodNotAllowed(endpoint);
    return this.#answers.sendEntry(
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
    const bytes = await this.#bodies.read(exchange);
    if (!endpoint.isObject(call.subresource)) {
      const sub = endpoint.info.subresources.find(
        ({ name }) => name === call.subresource,
      )!;
      const gv = (sub.apiVersion ?? endpoint.apiVersion).split("/");
      const schema = schemaFor(
        gv.length > 1 ? gv[0]! : "",
        gv.at(-1)!,
        sub.kind,
      );
      const body = this.#bodies.decode(
        exchange,
        call,
        bytes,
        schema,
        sub.apiVersion ?? endpoint.apiVersion,
        sub.kind,
      );
      asked.trail?.received(body);
      return this.#answers.sendValue(
        exchange,
        asked,
        call,
        shown,
        200,
        await runSubresource(call, "update", body),
      );
    }
    const body = this.#bodies.decode(
      exchange,
      call,
      bytes,
      endpoint.schema,
      endpoint.apiVersion,
      endpoint.info.kind,
    );
    asked.trail?.received(body);
    const { entry, created } = await update(call, body);
    return this.#answers.sendEntry(
      exchange,
      asked,
      call,
      shown,
      created ? 201 : 200,
      entry,
    );
  }

  #patchType({ headers }: Exchange): AskedPatch {
    return patchTypeOf(headers["content-type"], this.#bodies.cbor);
  }

  async #patch(exchange: Exchange, asked: Asked, call: Call): Promise<void> {
    const shown = this.#representation(exchange, asked, call.endpoint, true);
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
    const shown = this.#representation(exchange, asked, call.endpoint, true);
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
  "persistentvolumeclaims",
  "podtemplates",
  "resourcequotas",
]);

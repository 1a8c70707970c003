// Requests for resources over HTTP: from path, query and body to a request of the dispatch, and from its outcome back to
// bytes. Authentication, authorization and limits are the filters' (front.ts), connection handling the server's.
import type { Duplex } from "node:stream";
import type { Authorizer } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import { perform } from "../dispatch/perform.ts";
import { methodNotAllowed, pathNotFound } from "../request/refusals.ts";
import { methodOf } from "../dispatch/places.ts";
import {
  callOf,
  type Outcome,
  type ResourceRequest,
  type Verb,
} from "../dispatch/request.ts";
import { Call } from "../registry/call.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/verbs/list.ts";
import type { Registry } from "../registry/registry.ts";
import { addWarnings, Answers, wantsPretty, type Asked } from "./answers.ts";
import { Bodies, type BodyDecoders } from "./bodies.ts";
import { ChunkPool } from "./chunk-pool.ts";
import type { ConnectHandler } from "../proxy/connect-handler.ts";
import { connectSubresources, ConnectServing } from "./connect-serving.ts";
import { Http1Exchange, type Exchange } from "../../http-kit/exchange.ts";
import { formatNamed, type OtherFormats } from "./formats.ts";
import type { Negotiated, Negotiator } from "./negotiation.ts";
import { patchTypeOf } from "../dispatch/patch-types.ts";
import { Representation } from "./representation.ts";
import type { IncludeObject } from "./table.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { ResourceRoutes } from "./resource-route.ts";
import { checkRoute, pageNotFound } from "../request/route.ts";
import { WatchServing } from "./watch-serving.ts";

interface ResourceHandlerOptions {
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
  readonly #pool = new ChunkPool();
  readonly #bodies: Bodies;
  readonly #watches: WatchServing;
  readonly #connect: ConnectServing;
  readonly #routes: ResourceRoutes;

  constructor(private readonly options: ResourceHandlerOptions) {
    this.#answers = new Answers(
      options.compress,
      options.registry.slices,
      this.#pool,
    );
    this.#bodies = new Bodies(
      options.decoders,
      options.registry.options.loopWatch,
    );
    this.#watches = new WatchServing({ ...options, pool: this.#pool });
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

  /** Answers at once, also with what it throws, where nothing is waited for: then the front needs no time limit. */
  handle(exchange: Exchange, asked: Asked): void | Promise<void> {
    const { info } = asked;
    const endpoint = this.#endpointOf(exchange, info);
    if (connectSubresources.has(info.subresource))
      return this.#connect.serve(exchange, asked, endpoint);
    const request = this.#requestOf(exchange, asked, endpoint);
    const failed = (error: unknown): never => {
      addWarnings(asked, request.warnings);
      throw error;
    };
    try {
      const running = this.#serve(exchange, asked, endpoint, request);
      return running?.catch(failed);
    } catch (error) {
      return failed(error);
    }
  }

  #serve(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
    request: ResourceRequest,
  ): void | Promise<void> {
    const watches = request.verb === "watch";
    const shown = this.#representation(exchange, asked, endpoint, watches);
    if (watches)
      return this.#watches.serve(exchange, asked, callOf(request), shown);
    const answer = (outcome: Outcome): void | Promise<void> => {
      addWarnings(asked, request.warnings);
      return this.#send(exchange, asked, shown, outcome);
    };
    const performing = perform(request);
    return performing instanceof Promise
      ? performing.then(answer)
      : answer(performing);
  }

  #requestOf(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
  ): ResourceRequest {
    const { info, query, user, trail } = asked;
    const { registry, authorizer } = this.options;
    if (!isVerb(info.verb)) throw methodNotAllowed();
    const patch =
      info.verb === "patch"
        ? patchTypeOf(exchange.headers["content-type"], this.#bodies.cbor)
        : undefined;
    return {
      registry,
      verb: info.verb,
      endpoint,
      namespace: endpoint.info.namespaced ? info.namespace : "",
      name: info.name,
      subresource: info.subresource,
      query,
      user,
      userAgent: exchange.headers["user-agent"] ?? "",
      body: this.#bodies.of(exchange, patch, trail),
      authorizer,
      trail,
      warnings: [],
    };
  }

  #send(
    exchange: Exchange,
    asked: Asked,
    shown: Representation,
    outcome: Outcome,
  ): void | Promise<void> {
    const { status } = outcome;
    if ("entry" in outcome)
      return this.#answers.sendEntry(
        exchange,
        asked,
        shown,
        status,
        outcome.entry,
      );
    if ("value" in outcome)
      return this.#answers.sendValue(
        exchange,
        asked,
        shown,
        status,
        outcome.value,
      );
    return this.#sendList(exchange, asked, shown, outcome.listed);
  }

  #sendList(
    exchange: Exchange,
    asked: Asked,
    shown: Representation,
    listed: Listed,
  ): Promise<void> {
    const key =
      exchange.method !== "DELETE" && shown.cacheable && listed.revision > 0
        ? `${exchange.url}|${exchange.headers.accept}|${listed.revision}`
        : undefined;
    return this.#answers.sendList(exchange, asked, shown, listed, key);
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
      derived: registry.cache.derived,
      pool: this.#pool,
      alias: asked.info.alias,
    });
  }
}

function isVerb(verb: string): verb is Verb {
  return Object.hasOwn(methodOf, verb);
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

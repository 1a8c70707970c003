// Requests for resources over HTTP, upgrades among them: from path, query and body to a request of the dispatch, and from
// its outcome back to bytes. Authentication, authorization and limits are the filters' (front/), connection handling the
// listener's.
import type { Authorizer } from "../../api/contracts.ts";
import { ApiError, errors } from "../../api/errors.ts";
import { perform } from "../dispatch/perform.ts";
import { methodNotAllowed, pathNotFound } from "../request/refusals.ts";
import { methodOf } from "../dispatch/places.ts";
import { callOf, type Outcome, type Verb } from "../dispatch/request.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/verbs/list.ts";
import type { Registry } from "../registry/registry.ts";
import { addWarnings, Answers, wantsPretty } from "./answers.ts";
import { Bodies, type BodyDecoders } from "./bodies.ts";
import { ChunkPool } from "./chunk-pool.ts";
import type { ConnectHandler } from "../proxy/connect-handler.ts";
import { connectSubresources, serveConnect } from "./connect-serving.ts";
import { formatNamed, type OtherFormats } from "./formats.ts";
import type { HttpRequest } from "./http-request.ts";
import type { Negotiated, Negotiator } from "./negotiation.ts";
import { patchTypeOf } from "../dispatch/patch-types.ts";
import { Representation } from "./representation.ts";
import type { IncludeObject } from "./table.ts";
import { ResourceRoutes } from "./resource-route.ts";
import { nothingAt, notAllowedAt } from "../dispatch/missing-place.ts";
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
  readonly maxInitialMs: number;
  readonly compress: boolean;
}

export class ResourceHandler {
  readonly #answers: Answers;
  readonly #pool = new ChunkPool();
  readonly #bodies: Bodies;
  readonly #watches: WatchServing;
  readonly #routes: ResourceRoutes;

  constructor(private readonly options: ResourceHandlerOptions) {
    this.#answers = new Answers(
      options.compress,
      options.registry.slices,
      this.#pool,
    );
    this.#bodies = new Bodies(
      options.decoders,
      options.registry.slices,
      options.registry.options.loopWatch,
      undefined,
      options.registry.bodySizes,
    );
    this.#watches = new WatchServing({ ...options, pool: this.#pool });
    this.#routes = new ResourceRoutes({
      protobuf: options.formats.protobuf !== undefined,
      cbor: options.formats.cbor !== undefined,
    });
  }

  /** Ends all watches (shutdown), spread over `overMs`. */
  endWatches(overMs = 0): void {
    this.#watches.endAll(overMs);
  }

  /** Requests whose bodies have not come as a whole are refused (shutdown). */
  refuseUnreceived(): void {
    this.#bodies.giveUp();
  }

  get watches(): number {
    return this.#watches.size;
  }

  /** Answers at once, also with what it throws, where nothing is waited for: then the front needs no time limit. */
  handle(request: HttpRequest): void | Promise<void> {
    this.#place(request);
    if (connectSubresources.has(request.subresource))
      return serveConnect(request, this.options.connect);
    const failed = (error: unknown): never => {
      addWarnings(request);
      throw error;
    };
    try {
      const running = this.#serve(request);
      return running?.catch(failed);
    } catch (error) {
      return failed(error);
    }
  }

  /** What is asked for, when it is there and takes and gives what it should. Throws ApiError 404, 405, 406, 415. */
  #place(request: HttpRequest): void {
    const { exchange, info } = request;
    const { registry, authorizer } = this.options;
    const endpoint = registry.endpoint(info.group, info.version, info.resource);
    if (!endpoint)
      throw registry.servesGroup(info.group) ? pathNotFound() : pageNotFound();
    const place = this.#routes.place(endpoint, info);
    if (!place) throw warned(request, endpoint, nothingAt(endpoint, info));
    const route = place[exchange.method];
    if (!route) throw warned(request, endpoint, notAllowedAt(endpoint, info));
    if (!endpoint.custom) checkRoute(exchange, route);
    request.placeAt(registry, endpoint);
    request.authorizer = authorizer;
  }

  #serve(request: HttpRequest): void | Promise<void> {
    const { verb } = request.info;
    if (!isVerb(verb)) throw methodNotAllowed();
    request.verb = verb;
    const watches = verb === "watch";
    request.body = this.#bodyOf(request);
    request.shown = this.#representation(request, request.endpoint, watches);
    if (watches) return this.#watches.serve(request, callOf(request));
    const performing = perform(request);
    return performing instanceof Promise
      ? performing.then((outcome) => this.#send(request, outcome))
      : this.#send(request, performing);
  }

  #bodyOf(request: HttpRequest): HttpRequest["body"] {
    const patch =
      request.verb === "patch"
        ? patchTypeOf(request.exchange.headers["content-type"], {
            cbor: this.#bodies.cbor,
            custom: request.endpoint.custom,
          })
        : undefined;
    return this.#bodies.of(request, patch);
  }

  #send(request: HttpRequest, outcome: Outcome): void | Promise<void> {
    addWarnings(request);
    const { status } = outcome;
    if ("entry" in outcome)
      return this.#answers.sendEntry(request, status, outcome.entry);
    if ("value" in outcome)
      return this.#answers.sendValue(request, status, outcome.value);
    return this.#sendList(request, outcome.listed);
  }

  #sendList(request: HttpRequest, listed: Listed): Promise<void> {
    const { exchange, query, shown } = request;
    const again =
      exchange.method !== "DELETE" &&
      listed.revision > 0 &&
      // The pages of a large list would push out what many ask for.
      !query.has("continue");
    const key =
      again && shown.cacheId
        ? `${shown.cacheId}|${exchange.url}|${exchange.headers.accept}|${listed.revision}`
        : undefined;
    return this.#answers.sendList(request, listed, key);
  }

  #representation(
    { exchange, info, query, subresource }: HttpRequest,
    endpoint: Endpoint,
    stream: boolean,
  ): Representation {
    const { negotiator, formats, registry } = this.options;
    const negotiated = negotiator.negotiate(exchange.headers.accept, {
      protobuf: formats.protobuf !== undefined,
      custom: endpoint.custom && endpoint.isObject(subresource),
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
      pretty: negotiated.pretty || wantsPretty(exchange, query),
      includeObject: includeObjectOf(negotiated, query),
      nowMs: () => registry.clock.now(),
      derived: registry.cache.derived,
      pool: this.#pool,
      alias: info.alias,
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

/** A deprecated version of a custom resource says so also where it has no such place. */
function warned(request: HttpRequest, endpoint: Endpoint, error: Error): Error {
  if (!endpoint.custom || !(error instanceof ApiError)) return error;
  request.warnings.push(...endpoint.warnings);
  addWarnings(request);
  return error;
}

// Finds the handler of a request: one question for paths beside the resources, resources and whatever else is served, for
// requests and upgrades alike.
import type { Handler, HttpRequest } from "../serving/http-request.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type { RequestInfo } from "../request/request-info.ts";
import { checkRoute, pageNotFound } from "../request/route.ts";

/** A part of the served paths. */
export interface Delegate {
  /** Undefined: this is not one of its requests. */
  route(info: RequestInfo): Handler | undefined;
}

export class Router {
  /** @param delegates asked in this order */
  constructor(private readonly delegates: readonly Delegate[]) {}

  /** Throws a PlainAnswer of 404. */
  route(info: RequestInfo): Handler {
    for (const delegate of this.delegates) {
      const handler = delegate.route(info);
      if (handler) return handler;
    }
    throw pageNotFound();
  }
}

/** Paths that are no resources, and their index. */
export class PathDelegate implements Delegate {
  readonly #exact = new Map<string, Handler>();
  readonly #prefixes: PathHandler[] = [];

  constructor(private readonly paths: readonly PathHandler[]) {
    for (const path of paths) {
      if (path.path.endsWith("/") && path.path !== "/")
        this.#prefixes.push(path);
      else this.#exact.set(path.path, handlerOf(path));
      if (path.route) this.#exact.set(`${path.path}/`, handlerOf(path));
    }
    for (const path of ["/", "/index.html"]) this.#exact.set(path, this.#index);
    this.#prefixes.sort((a, b) => b.path.length - a.path.length);
  }

  route(info: RequestInfo): Handler | undefined {
    const { path } = info;
    const exact = this.#exact.get(path);
    if (exact || info.resourceRequest) return exact;
    const found = this.#prefixes.find((prefix) => path.startsWith(prefix.path));
    return found && handlerOf(found);
  }

  /** All paths that are served. */
  readonly #index = (request: HttpRequest): void => {
    const paths = new Set<string>();
    for (const { path, listed } of this.paths)
      for (const one of listed?.() ?? (path.endsWith("/") ? [] : [path]))
        paths.add(one);
    const body = { paths: [...paths].sort() };
    request.respond(
      200,
      { "content-type": "application/json" },
      JSON.stringify(body, null, 2),
    );
  };
}

function handlerOf({ route, handle }: PathHandler): Handler {
  if (!route) return handle;
  return (request) => {
    checkRoute(request.exchange, route);
    return handle(request);
  };
}

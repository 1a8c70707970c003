// The agent's paths. A route is a method list and a pattern; `{name}` is one path part, `{name...}` the rest. Of several
// that match the path the first wins; a known path with another method is 405, an unknown one 404.
import { HttpError, type Exchange } from "./exchange.ts";

export interface Route {
  /** Absent: all. */
  methods?: readonly string[];
  pattern: string;
  /** Also on the read-only port. */
  readOnly?: boolean;
  serve(exchange: Exchange): Promise<void> | void;
}

interface CompiledRoute extends Route {
  expression: RegExp;
  names: string[];
}

export interface Router {
  /** Throws HttpError 404 or 405. */
  find(
    method: string,
    path: string,
  ): { route: Route; parameters: Record<string, string> };
}

function compile(route: Route): CompiledRoute {
  const names: string[] = [];
  const source = route.pattern.replaceAll(
    /\{(\w+)(\.\.\.)?\}/g,
    (_text, name: string, rest?: string) => {
      names.push(name);
      return rest === undefined ? "([^/]+)" : "(.*)";
    },
  );
  return { ...route, expression: new RegExp(`^${source}$`), names };
}

export function createRouter(routes: readonly Route[]): Router {
  const compiled = routes.map(compile);
  return {
    find(method, path) {
      const allowed = new Set<string>();
      for (const route of compiled) {
        const match = route.expression.exec(path);
        if (match === null) continue;
        const { methods } = route;
        if (
          methods &&
          !methods.includes(method) &&
          !(method === "HEAD" && methods.includes("GET"))
        ) {
          for (const other of methods) allowed.add(other);
          continue;
        }
        const parameters: Record<string, string> = {};
        try {
          route.names.forEach(
            (name, index) =>
              (parameters[name] = decodeURIComponent(match[index + 1]!)),
          );
        } catch {
          throw new HttpError(400, "bad escape in the path");
        }
        return { route, parameters };
      }
      if (allowed.size > 0)
        throw new HttpError(405, "405: Method Not Allowed", {
          Allow: [...allowed].join(", "),
        });
      throw new HttpError(404, "404 page not found\n");
    },
  };
}

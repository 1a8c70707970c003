// Routing by method and path. `{name}` of a pattern is one part of a path, `{name...}` the rest. Of several that match the
// path the first wins; a known path with another method is 405, an unknown one 404.
import { HttpError } from "./http-error.ts";

export interface Route {
  /** Absent: all. */
  readonly methods?: readonly string[];
  readonly pattern: string;
}

interface CompiledRoute<R> {
  readonly route: R;
  readonly expression: RegExp;
  readonly names: readonly string[];
}

interface Router<R extends Route> {
  /** Throws HttpError 400, 404 or 405. @param path percent-encoded, without the query */
  find(
    method: string,
    path: string,
  ): { route: R; parameters: Record<string, string> };
}

function compile<R extends Route>(route: R): CompiledRoute<R> {
  const names: string[] = [];
  const source = route.pattern.replaceAll(
    /\{(\w+)(\.\.\.)?\}/g,
    (_text, name: string, rest?: string) => {
      names.push(name);
      return rest === undefined ? "([^/]+)" : "(.*)";
    },
  );
  return { route, expression: new RegExp(`^${source}$`), names };
}

export function createRouter<R extends Route>(routes: readonly R[]): Router<R> {
  const compiled = routes.map(compile);
  return {
    find(method, path) {
      const allowed = new Set<string>();
      for (const { route, expression, names } of compiled) {
        const match = expression.exec(path);
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
          names.forEach(
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

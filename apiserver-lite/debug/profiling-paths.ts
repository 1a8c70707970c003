// /debug/pprof/* of the API server, behind authorization; `/debug/pprof` itself leads to the list of pages.
import type { Profiling } from "../../http-kit/profiling.ts";
import type { PathHandler } from "../serving/path-handler.ts";

export function profilingPaths(profiling: Profiling): PathHandler[] {
  return [
    {
      path: "/debug/pprof",
      handle: (request) =>
        request.respond(
          302,
          {
            "content-type": "text/html; charset=utf-8",
            location: "/debug/pprof/",
          },
          '<a href="/debug/pprof/">Found</a>.\n\n',
        ),
    },
    {
      path: "/debug/pprof/",
      handle: ({ exchange, info, query }) =>
        profiling.serve(exchange, info.path, query),
    },
  ];
}

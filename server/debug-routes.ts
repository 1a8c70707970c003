// Below /debug/ at the node agent's port: profiles of the process and the verbosity of its log; and the answers where
// what looks into containers or runs in them is off.
import { verbosityRoute, type FlagSetter } from "../http-kit/debug-flags.ts";
import { HttpError } from "../http-kit/http-error.ts";
import type { PortRoute } from "../http-kit/port.ts";
import { Profiling, profilingRoutes } from "../http-kit/profiling.ts";

export interface DebugRouteOptions {
  /** Default true: /debug/pprof/ is served with the debugging handlers. */
  profiling?: boolean;
  /** Sets the verbosity of the log; absent: the port refuses it. */
  setVerbosity?: FlagSetter;
}

/** Paths below these are off without debugging handlers, for every method. */
const debuggingPaths = [
  "/run",
  "/exec",
  "/attach",
  "/portForward",
  "/containerLogs",
  "/runningpods",
  "/debug/pprof",
  "/logs",
];

/** 405 for every method of what looks into containers or runs in them. */
export function debuggingDisabledRoutes(): PortRoute[] {
  const serve = (): never => {
    throw new HttpError(405, "Debug endpoints are disabled.\n");
  };
  return debuggingPaths.flatMap((path) => [
    { pattern: path, serve },
    { pattern: `${path}/{path...}`, serve },
  ]);
}

function flagRoute({ setVerbosity }: DebugRouteOptions): PortRoute {
  if (setVerbosity) return verbosityRoute(setVerbosity);
  return {
    pattern: "/debug/flags/v",
    serve: () => {
      throw new HttpError(405, "flags endpoint is disabled.\n");
    },
  };
}

/** Profiles of the process and the verbosity of its log. */
export function debugRoutes(options: DebugRouteOptions): PortRoute[] {
  const { profiling = true } = options;
  if (profiling)
    return [flagRoute(options), ...profilingRoutes(new Profiling())];
  return [
    flagRoute(options),
    {
      pattern: "/debug/pprof/{path...}",
      serve: () => {
        throw new HttpError(405, "profiling endpoint is disabled.\n");
      },
    },
  ];
}

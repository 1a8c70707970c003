// /flagz and /statusz of the API server, behind authorization.
import { zpages, type ZpageOptions } from "../../http-kit/zpages.ts";
import type { PathHandler } from "../serving/path-handler.ts";

export function zpagePaths(options: ZpageOptions): PathHandler[] {
  return zpages(options).map(({ path, serve }) => ({
    path,
    handle: ({ exchange }) => serve(exchange),
  }));
}

// /version.
import { versionInfo } from "../../api/facts/version.ts";
import type { PathHandler } from "../serving/path-handler.ts";

export const versionPath: PathHandler = {
  path: "/version",
  route: { methods: ["GET"], produces: ["application/json"] },
  handle: (request) =>
    request.respond(
      200,
      { "content-type": "application/json" },
      JSON.stringify(versionInfo, null, 2),
    ),
};

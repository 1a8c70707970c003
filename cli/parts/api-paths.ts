// Paths of an API server beside its resources: OpenAPI v2 and v3 (made on first demand), and the discovery of the
// ServiceAccount issuer.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Catalogue } from "../../api/catalogue.ts";
import { ApiError } from "../../api/errors.ts";
import type { OpenApiService } from "../../api/openapi/service.ts";
import type { Exchange } from "../../apiserver-lite/http/exchange.ts";
import type { PathHandler } from "../../apiserver-lite/http/front.ts";

const gzipThresholdBytes = 128 * 1024;
const maxKeptAnswers = 64;

export function openApiPaths(catalogue: Catalogue): PathHandler[] {
  let service: Promise<OpenApiService> | undefined;
  /** Compressed documents by their ETag. */
  const compressed = new Map<string, Promise<Buffer>>();
  const handle = async (exchange: Exchange): Promise<void> => {
    service ??= import("../../api/openapi/service.ts").then(
      ({ createOpenApiService }) => createOpenApiService(catalogue),
    );
    const url = new URL(exchange.url, "https://host");
    const { accept } = exchange.headers;
    const ifNoneMatch = exchange.headers["if-none-match"];
    const hash = url.searchParams.get("hash");
    const answer = (await service).answer(
      url.pathname.replace(/(?<=.)\/$/, ""),
      {
        ...(accept ? { accept } : {}),
        ...(hash ? { hash } : {}),
        ...(ifNoneMatch ? { ifNoneMatch } : {}),
      },
    );
    if (!answer)
      throw new ApiError({
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource",
      });
    const etag =
      answer.headers["etag"] ??
      answer.headers["Etag"] ??
      answer.headers["ETag"];
    if (
      etag &&
      answer.status === 200 &&
      answer.body.length >= gzipThresholdBytes &&
      /\bgzip\b/.test(String(exchange.headers["accept-encoding"] ?? ""))
    ) {
      const key = `${etag} ${answer.headers["content-type"] ?? ""}`;
      let body = compressed.get(key);
      if (!body) {
        if (compressed.size >= maxKeptAnswers) compressed.clear();
        body = promisify(gzip)(answer.body, { level: 4 });
        compressed.set(key, body);
      }
      exchange.respond(
        200,
        {
          ...answer.headers,
          "content-encoding": "gzip",
          vary: "Accept-Encoding",
        },
        await body,
      );
      return;
    }
    exchange.respond(answer.status, answer.headers, answer.body);
  };
  return ["/openapi/v2", "/openapi/v3", "/openapi/v3/"].map((path) => ({
    path,
    handle,
  }));
}

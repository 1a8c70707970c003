// /openapi/v2 and /openapi/v3: documents of api/openapi, which load with the first request for one.
import type { Catalogue } from "../../api/catalogue.ts";
import type { OpenApiService } from "../../api/openapi/service.ts";
import { acceptsGzip } from "../serving/answers.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type { TimeSlices } from "../loop/time-slices.ts";

/** For whom documents are made. */
const documents = { method: "GET", url: "/openapi" };

export class OpenApiPaths {
  #service: Promise<OpenApiService> | undefined;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly gates: Readonly<Record<string, boolean>>,
    private readonly slices: TimeSlices,
  ) {}

  /** To be called when resources were added or removed. */
  invalidate(): void {
    void this.#service?.then((service) => service.invalidate());
  }

  paths(): PathHandler[] {
    const handle: PathHandler["handle"] = async (request) => {
      this.#service ??= import("../../api/openapi/service.ts").then(
        ({ createOpenApiService }) =>
          createOpenApiService(this.catalogue, {
            gates: this.gates,
            pause: () =>
              this.slices.over ? this.slices.next(documents) : undefined,
          }),
      );
      const service = await this.#service;
      const { exchange, query, info } = request;
      const hash = query.get("hash");
      const ifNoneMatch = exchange.headers["if-none-match"];
      const answer = await service.answer(info.path, {
        accept: exchange.headers.accept ?? "*/*",
        ...(hash === null ? {} : { hash }),
        ...(ifNoneMatch ? { ifNoneMatch } : {}),
        acceptsGzip: acceptsGzip(exchange),
      });
      if (!answer) return request.respond(404, {});
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers))
        headers[name.toLowerCase()] = value;
      request.respond(answer.status, headers, answer.body);
    };
    return [
      { path: "/openapi/v2", handle },
      { path: "/openapi/v3", handle },
      { path: "/openapi/v3/", listed: () => ["/openapi/v3/"], handle },
    ];
  }
}

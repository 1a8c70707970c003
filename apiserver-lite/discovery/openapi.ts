// /openapi/v2 and /openapi/v3: documents of api/openapi, which load with the first request for one.
import type { Catalogue, ResourceInfo } from "../../api/catalogue.ts";
import type {
  OpenApiService,
  OtherDocuments,
} from "../../api/openapi/service.ts";
import { acceptsGzip } from "../serving/answers.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type { TimeSlices } from "../loop/time-slices.ts";

/** Of a type that is not built in: the same object until it changes. */
type PublishedSchemas = (
  typeName: string,
  version: 2 | 3,
) => Readonly<Record<string, unknown>> | undefined;

/** For whom documents are made. */
const documents = { method: "GET", url: "/openapi" };

export class OpenApiPaths {
  #service: Promise<OpenApiService> | undefined;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly gates: Readonly<Record<string, boolean>>,
    private readonly slices: TimeSlices,
    private readonly schemas: PublishedSchemas,
    private readonly others: OtherDocuments,
  ) {}

  /** To be called when resources of these versions were added, changed or removed. */
  invalidate(changed: readonly ResourceInfo[]): void {
    void this.#service?.then((service) => service.invalidate(changed));
  }

  /** To be called when documents of other servers changed. */
  othersChanged(): void {
    void this.#service?.then((service) => service.invalidate([]));
  }

  paths(): PathHandler[] {
    const handle: PathHandler["handle"] = async (request) => {
      this.#service ??= import("../../api/openapi/service.ts").then(
        ({ createOpenApiService }) =>
          createOpenApiService(this.catalogue, {
            gates: this.gates,
            v2: (typeName) => this.schemas(typeName, 2),
            v3: (typeName) => this.schemas(typeName, 3),
            others: this.others,
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

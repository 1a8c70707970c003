// /openapi/v2 and /openapi/v3: documents of api/openapi, which load with the first request for one.
import type { Catalogue, ResourceInfo } from "../../api/catalogue.ts";
import type {
  OpenApiService,
  OtherDocuments,
} from "../../api/openapi/service.ts";
import type { Steps } from "../../api/queueing/steps.ts";
import { pieces } from "../../api/openapi/pieces.ts";
import { writeTo } from "../request/back-pressure.ts";
import { acceptsGzip } from "../serving/answers.ts";
import { parseAccept } from "../serving/negotiation.ts";
import type { HttpRequest } from "../serving/http-request.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import type { TimeSlices } from "../loop/time-slices.ts";

/** Of a type that is not built in: the same function until it changes. */
type PublishedSchemas = (
  typeName: string,
  version: 2 | 3,
) => (() => Steps<Readonly<Record<string, unknown>>>) | undefined;

/** Longer answers leave in pieces. */
const wholeBytes = 64 * 1024;
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
      const { accept } = exchange.headers;
      const ifNoneMatch = exchange.headers["if-none-match"];
      const answer = await service.answer(info.path, {
        ...(accept ? { accepts: parseAccept(accept) } : {}),
        ...(hash === null ? {} : { hash }),
        ...(ifNoneMatch ? { ifNoneMatch } : {}),
        acceptsGzip: acceptsGzip(exchange),
      });
      if (!answer) return request.respond(404, {});
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(answer.headers))
        headers[name.toLowerCase()] = value;
      await this.#send(request, answer.status, headers, answer.body);
    };
    return [
      { path: "/openapi/v2", handle },
      { path: "/openapi/v3", handle },
      { path: "/openapi/v3/", listed: () => ["/openapi/v3/"], handle },
    ];
  }

  /** As fast as the client reads: a document of many definitions has tens of megabytes. */
  async #send(
    request: HttpRequest,
    status: number,
    headers: Record<string, string>,
    body: readonly Uint8Array[],
  ): Promise<void> {
    const { exchange } = request;
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    if (bytes <= wholeBytes || exchange.method === "HEAD")
      return request.respond(status, headers, Buffer.concat(body));
    const out = exchange.open(status, {
      ...request.headers,
      ...headers,
      "content-length": bytes,
    });
    for (const piece of pieces(body)) {
      const full = writeTo(out, piece);
      if (full) await full;
      if (this.slices.over) await this.slices.next(exchange);
      if (out.destroyed) return;
    }
    out.end();
  }
}

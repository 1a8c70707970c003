// How large the bodies of requests are, by resource and verb, with the reference's name. A resource that is not served
// leaves no series, as its body is not read.
import { Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

/** Deleting a collection is a delete here. */
const verbs: Readonly<Record<string, string>> = { deletecollection: "delete" };

export class BodySizes {
  readonly #sizes = new Histograms(
    {
      name: "apiserver_request_body_size_bytes",
      help: "Bytes of the bodies of requests.",
      labels: ["resource", "verb"],
    },
    Array.from({ length: 31 }, (_, at) => 50_000 + 100_000 * at),
  );

  received(
    { resource, verb }: { readonly resource: string; readonly verb: string },
    bytes: number,
  ): void {
    this.#sizes.observe(bytes, resource, verbs[verb] ?? verb);
  }

  /** The resource is gone; the count of one of another group begins again with it. */
  forget(gone: { readonly resource: string }): void {
    this.#sizes.forget(({ resource }) => resource === gone.resource);
  }

  family(): Family {
    return this.#sizes.family();
  }
}

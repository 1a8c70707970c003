// How long lists took that were asked for as the beginning of a watch, with the reference's name.
import { Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { GroupVersionResource } from "../../api/object.ts";

export class ListStreams {
  readonly #took = new Histograms(
    {
      name: "apiserver_watch_list_duration_seconds",
      help: "How long the initial events of watches took that asked for them.",
      labels: ["group", "version", "resource", "scope"],
    },
    [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60],
  );

  /** All initial events have gone out. @param startMs of performance.now() */
  sent(of: GroupVersionResource, namespace: string, startMs: number): void {
    const { group, version, resource } = of;
    const scope = namespace === "" ? "cluster" : "namespace";
    const seconds = (performance.now() - startMs) / 1000;
    this.#took.observe(seconds, group, version, resource, scope);
  }

  /** The resource is gone. */
  forget(of: Pick<GroupVersionResource, "group" | "resource">): void {
    this.#took.forget(
      ({ group, resource }) => group === of.group && resource === of.resource,
    );
  }

  family(): Family {
    return this.#took.family();
  }
}

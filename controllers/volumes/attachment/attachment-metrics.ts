// What there is to attach and what is attached, by plug-in, with the reference's names; looked up at a scrape. Detaching
// what a node still reports as in use is counted.
import { addCounts, Counters } from "../../../api/metrics/counted.ts";
import { Family, type Labels } from "../../../api/metrics/family.ts";
import type { ForcedDetach } from "./attachment-plan.ts";

export interface AttachmentState {
  /** Drivers, one entry for each node that needs a volume. */
  readonly desired: readonly string[];
  /** One for each volume that is attached to a node. */
  readonly actual: readonly string[];
  /** One for each volume of a pod on a node. */
  readonly inUse: readonly { readonly node: string; readonly driver: string }[];
}

const pluginOf = (driver: string): string => `kubernetes.io/csi:${driver}`;

export class AttachmentMetrics {
  readonly #forced = new Counters({
    // The reference says its subsystem twice.
    name: "attach_detach_controller_attachdetach_controller_forced_detaches",
    help: "Volumes that were detached while their node reported them as in use.",
    labels: ["reason"],
  });

  constructor(private readonly state: () => AttachmentState) {}

  forced(reason: ForcedDetach): void {
    this.#forced.count(reason);
  }

  families(): Family[] {
    const { desired, actual, inUse } = this.state();
    const total = [
      ...desired.map((driver) => labelsOf(driver, "desired_state_of_world")),
      ...actual.map((driver) => labelsOf(driver, "actual_state_of_world")),
    ];
    return [
      this.#forced.family(),
      addCounts(
        new Family(
          "attachdetach_controller_total_volumes",
          "gauge",
          "Volumes to attach, and attached ones, by plug-in.",
        ),
        total,
      ),
      addCounts(
        new Family(
          "storage_count_attachable_volumes_in_use",
          "gauge",
          "Attachable volumes of the pods of each node, by plug-in.",
        ),
        inUse.map(({ node, driver }) => ({
          node,
          volume_plugin: pluginOf(driver),
        })),
      ),
    ];
  }
}

const labelsOf = (driver: string, state: string): Labels => ({
  plugin_name: pluginOf(driver),
  state,
});

// Who leads, by Lease, with the reference's names: what alerts on a control plane without a leader read.
import { Counters } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";

export class LeaderMetrics {
  readonly #leads = new Counters(
    {
      name: "leader_election_master_status",
      help: "1: this process leads by the Lease, 0: it is a candidate.",
      labels: ["name"],
    },
    "gauge",
  );
  readonly #slow = new Counters({
    name: "leader_election_slowpath_total",
    help: "Renewals of the Lease that had to read it first.",
    labels: ["name"],
  });

  leads(lease: string, is: boolean): void {
    this.#leads.set(Number(is), lease);
  }

  readFirst(lease: string): void {
    this.#slow.count(lease);
  }

  families(): Family[] {
    return [this.#leads.family(), this.#slow.family()];
  }
}

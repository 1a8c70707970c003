// Results of a port's health checks, for /metrics/slis: how each went last, and how often it passed and failed.
import { Family } from "../api/metrics/family.ts";

interface CheckResults {
  readonly labels: { readonly name: string; readonly type: string };
  now: 0 | 1;
  ok: number;
  bad: number;
}

export class HealthResults {
  readonly #results = new Map<string, CheckResults>();

  note(type: string, name: string, passed: boolean): void {
    const key = `${name} ${type}`;
    let result = this.#results.get(key);
    if (!result) {
      result = { labels: { name, type }, now: 0, ok: 0, bad: 0 };
      this.#results.set(key, result);
    }
    result.now = passed ? 1 : 0;
    if (passed) result.ok++;
    else result.bad++;
  }

  families(): Family[] {
    const states = new Family(
      "kubernetes_healthcheck",
      "gauge",
      "Whether a check passed when it was last made.",
    );
    const made = new Family(
      "kubernetes_healthchecks_total",
      "counter",
      "Checks made, by their results.",
    );
    const inOrder = [...this.#results].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, { labels, now, ok, bad }] of inOrder) {
      states.add(labels, now);
      if (bad) made.add({ ...labels, status: "error" }, bad);
      if (ok) made.add({ ...labels, status: "success" }, ok);
    }
    return [states, made];
  }
}

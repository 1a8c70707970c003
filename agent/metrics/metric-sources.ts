// What the agent's parts count for /metrics of its port: each part adds its families once; they are read at a scrape.
import type { Family } from "../../api/metrics/family.ts";

export class MetricSources {
  readonly #sources: (() => readonly Family[])[] = [];

  add(families: () => readonly Family[]): void {
    this.#sources.push(families);
  }

  families(): readonly Family[] {
    return this.#sources.flatMap((families) => families());
  }
}

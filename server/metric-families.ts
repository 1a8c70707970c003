// Families of metrics that grow sample by sample, in the order in which each had its first one.
import { Family, type Labels, type MetricType } from "../api/metrics/family.ts";

interface FamilyHead {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
}

/** Families by their names, made when their first sample comes. */
export class Families {
  readonly #families = new Map<string, Family>();

  add(
    { name, type, help }: FamilyHead,
    labels: Labels,
    value: number | undefined,
    epochMs?: number,
  ): void {
    if (value === undefined || Number.isNaN(value)) return;
    let family = this.#families.get(name);
    if (!family)
      this.#families.set(name, (family = new Family(name, type, help)));
    family.addSample({
      suffix: "",
      labels,
      value,
      ...(epochMs === undefined ? {} : { epochMs }),
    });
  }

  list(): Family[] {
    return [...this.#families.values()];
  }
}

// What a node says of itself at one moment (stats.Summary of its agent), and the rates between two such samples. Pure.
// What is no sample is an Error; single figures that are missing leave their container out.

/** Of a node or a container: CPU time since its start, and its working set. */
interface Amounts {
  readonly cpuNanoseconds: number;
  readonly memoryBytes: number;
  readonly atMs: number;
}

/** What was used in a time: cores in billionths, bytes. */
export interface Rate {
  readonly nanoCores: number;
  readonly memoryBytes: number;
  readonly atMs: number;
  readonly windowMs: number;
}

interface UsageSample {
  readonly node: Amounts | undefined;
  /** By pod (`namespace/name/uid`), then by container. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Amounts>>;
}

export interface UsageRates {
  readonly node: Rate | undefined;
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Rate>>;
}

interface Stats {
  readonly name?: unknown;
  readonly cpu?: {
    readonly time?: unknown;
    readonly usageCoreNanoSeconds?: unknown;
  };
  readonly memory?: { readonly workingSetBytes?: unknown };
}

interface PodStats {
  readonly podRef?: {
    readonly name?: unknown;
    readonly namespace?: unknown;
    readonly uid?: unknown;
  };
  readonly containers?: readonly Stats[];
}

/** @throws Error for what is no summary */
export function parseSummary(text: string): UsageSample {
  const summary = JSON.parse(text) as {
    node?: Stats;
    pods?: readonly PodStats[];
  } | null;
  if (typeof summary !== "object" || !Array.isArray(summary?.pods ?? []))
    throw new Error("not a summary of statistics");
  const pods = new Map<string, Map<string, Amounts>>();
  for (const pod of summary?.pods ?? []) {
    const { podRef, containers } = (pod as PodStats | null) ?? {};
    if (!podRef || !Array.isArray(containers)) continue;
    const found = new Map<string, Amounts>();
    for (const container of containers as readonly Stats[]) {
      const amounts = amountsOf(container);
      if (amounts && typeof container?.name === "string")
        found.set(container.name, amounts);
    }
    pods.set(podKey(podRef), found);
  }
  return { node: summary?.node && amountsOf(summary.node), pods };
}

export function podKey(ref: {
  readonly namespace?: unknown;
  readonly name?: unknown;
  readonly uid?: unknown;
}): string {
  return `${String(ref.namespace)}/${String(ref.name)}/${String(ref.uid)}`;
}

function amountsOf(stats: Stats | null): Amounts | undefined {
  const { cpu, memory } = stats ?? {};
  const atMs = Date.parse(String(cpu?.time));
  const cpuNanoseconds = cpu?.usageCoreNanoSeconds;
  const memoryBytes = memory?.workingSetBytes;
  return typeof cpuNanoseconds === "number" &&
    typeof memoryBytes === "number" &&
    Number.isFinite(atMs)
    ? { cpuNanoseconds, memoryBytes, atMs }
    : undefined;
}

/** A sample, and when it was taken here. */
export interface Taken {
  readonly sample: UsageSample;
  /** Of a clock that only goes forward. */
  readonly atMs: number;
}

/** A container that began between the samples, or whose counter went back, has no rate. The samples' own times have whole seconds. */
export function ratesBetween(before: Taken, after: Taken): UsageRates {
  const elapsedMs = after.atMs - before.atMs;
  const pods = new Map<string, Map<string, Rate>>();
  for (const [key, containers] of after.sample.pods) {
    const known = before.sample.pods.get(key);
    const rates = new Map<string, Rate>();
    for (const [name, amounts] of containers) {
      const rate = rateOf(known?.get(name), amounts, elapsedMs);
      if (rate) rates.set(name, rate);
    }
    pods.set(key, rates);
  }
  return {
    node: rateOf(before.sample.node, after.sample.node, elapsedMs),
    pods,
  };
}

/** Whether the node or one of its containers has no rate. */
export function lacks(rates: UsageRates, { node, pods }: UsageSample): boolean {
  if (node && !rates.node) return true;
  for (const [key, containers] of pods)
    for (const name of containers.keys())
      if (!rates.pods.get(key)?.has(name)) return true;
  return false;
}

/** Rates, and others where there are none. */
export function merged(rates: UsageRates, others: UsageRates): UsageRates {
  const pods = new Map(
    [...others.pods].map(([key, containers]) => [
      key,
      new Map([...containers, ...(rates.pods.get(key) ?? [])]),
    ]),
  );
  return { node: rates.node ?? others.node, pods };
}

function rateOf(
  before: Amounts | undefined,
  after: Amounts | undefined,
  elapsedMs: number,
): Rate | undefined {
  if (!before || !after || after.cpuNanoseconds < before.cpuNanoseconds)
    return undefined;
  const used = after.cpuNanoseconds - before.cpuNanoseconds;
  return {
    nanoCores: Math.round((used * 1000) / elapsedMs),
    memoryBytes: after.memoryBytes,
    atMs: after.atMs,
    windowMs: elapsedMs,
  };
}

// The driver systemd: every cgroup that the agent makes is a slice of systemd's, which therefore leaves it and what is
// below it alone. Limits are set as properties, so that systemd does not take them back, and in the files, where the exact
// values count. In version 1 systemd keeps a slice in those hierarchies only that it needs; the files' driver makes the
// others.
import type {
  CgroupDriver,
  CgroupLimits,
  CgroupUsage,
} from "../cgroup-driver.ts";
import { sliceOf } from "./slice-names.ts";
import type { SystemdBus } from "./systemd-bus.ts";
import { unitProperties, type UnitProperty } from "./unit-properties.ts";

/** Without accounting systemd would take the controllers away again. */
const always: readonly UnitProperty[] = [
  ["DefaultDependencies", "b", "false"],
  ["CPUAccounting", "b", "true"],
  ["MemoryAccounting", "b", "true"],
  ["TasksAccounting", "b", "true"],
];

export class SystemdDriver implements CgroupDriver {
  readonly version: 1 | 2;
  readonly #files: CgroupDriver;
  readonly #bus: SystemdBus;

  /** @param files for the same machine, which paths of slices are given to */
  constructor(files: CgroupDriver, bus: SystemdBus) {
    this.version = files.version;
    this.#files = files;
    this.#bus = bus;
  }

  async create(path: string, limits: CgroupLimits): Promise<void> {
    const name = sliceOf(path);
    const properties = unitProperties(limits, this.version);
    if (await this.#files.exists(path))
      await this.#bus.setProperties(name, properties).catch((error: unknown) =>
        // The cgroup may be left of a slice that is no more.
        this.#start(name, properties).catch(() => {
          throw error;
        }),
      );
    else await this.#start(name, properties);
    await this.#files.create(path, limits);
  }

  async #start(
    name: string,
    properties: readonly UnitProperty[],
  ): Promise<void> {
    await this.#bus.startSlice(name, [
      ["Description", "s", `Pods of orbit: ${name}`],
      ...always,
      ...properties,
    ]);
  }

  async update(path: string, limits: CgroupLimits): Promise<void> {
    await this.#bus.setProperties(
      sliceOf(path),
      unitProperties(limits, this.version),
    );
    await this.#files.update(path, limits);
  }

  usage(path: string): Promise<CgroupUsage> {
    return this.#files.usage(path);
  }

  exists(path: string): Promise<boolean> {
    return this.#files.exists(path);
  }

  async remove(path: string): Promise<void> {
    if (!(await this.#files.exists(path))) return;
    await this.#bus.stop(sliceOf(path));
    await this.#files.remove(path);
  }
}

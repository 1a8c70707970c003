// The drivers that have registered, by name: the handler of CSI plug-ins. A driver is there for volumes once it has given
// the node's id and the CSINode shows it; of two of one name the one with the higher version stays.
import type { Logger } from "pino";
import type {
  PluginHandler,
  RegisteredPlugin,
} from "../../plugin-registration/plugin-registration.ts";
import { CsiDriver } from "./csi-driver.ts";
import type { CsiMetrics } from "./csi-metrics.ts";
import type { CsiNodeObject } from "./csi-node.ts";

interface CsiRegistryOptions {
  /** undefined: no API server. */
  readonly node: Pick<CsiNodeObject, "add" | "remove"> | undefined;
  readonly metrics: CsiMetrics;
  readonly logger: Logger;
}

interface Registered {
  readonly driver: CsiDriver;
  readonly version: readonly number[];
}

export class CsiRegistry implements PluginHandler {
  readonly #options: CsiRegistryOptions;
  readonly #drivers = new Map<string, Registered>();

  constructor(options: CsiRegistryOptions) {
    this.#options = options;
  }

  stop(): void {
    for (const { driver } of this.#drivers.values()) driver.close();
    this.#drivers.clear();
  }

  find(name: string): CsiDriver | undefined {
    return this.#drivers.get(name)?.driver;
  }

  /** @throws Error with the reference's text when it has not registered. */
  driver(name: string): CsiDriver {
    const found = this.#drivers.get(name);
    if (!found)
      throw new Error(
        `driver name ${name} not found in the list of registered CSI drivers`,
      );
    return found.driver;
  }

  validate({ name, versions }: RegisteredPlugin): void {
    const version = highestVersion(name, versions);
    const known = this.#drivers.get(name);
    if (known && compareVersions(known.version, version) >= 0)
      throw new Error(
        `kubernetes.io/csi: ValidatePlugin for CSI driver "${name}" failed. Another driver with the same name is already registered with a higher supported version: "${known.version.join(".")}"`,
      );
  }

  async register({
    name,
    endpoint,
    versions,
  }: RegisteredPlugin): Promise<void> {
    const driver = await CsiDriver.open(name, endpoint, this.#options.metrics);
    try {
      await this.#options.node?.add(name, await driver.info());
      if (!this.#options.node) await driver.info();
    } catch (error) {
      driver.close();
      throw error;
    }
    this.#drivers.get(name)?.driver.close();
    const version = highestVersion(name, versions);
    this.#drivers.set(name, { driver, version });
    this.#options.logger.info({ driver: name }, "registered a CSI driver");
  }

  deregister({ name, endpoint }: RegisteredPlugin): void {
    const known = this.#drivers.get(name);
    // Another one of that name has taken its place.
    if (known?.driver.endpoint !== endpoint) return;
    known.driver.close();
    this.#drivers.delete(name);
    this.#options.node
      ?.remove(name)
      .catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error, driver: name },
          "can't take a CSI driver off the node",
        ),
      );
  }
}

/** Of 1.x: later ones of the first version are compatible, a second one need not be. */
function highestVersion(
  name: string,
  versions: readonly string[],
): readonly number[] {
  const start = `kubernetes.io/csi: RegisterPlugin for CSI driver "${name}" failed.`;
  if (versions.length === 0)
    throw new Error(
      `${start} Plugin returned an empty list for supported versions`,
    );
  const [highest] = versions
    .flatMap((text) => {
      const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
      return match ? [match.slice(1).map((part) => Number(part ?? 0))] : [];
    })
    .filter(([major]) => major === 1)
    .sort((a, b) => compareVersions(b, a));
  if (!highest)
    throw new Error(
      `${start} None of the versions specified ${JSON.stringify(versions)} are supported. err=None of the versions are supported`,
    );
  return highest;
}

function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (const index of [0, 1, 2]) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

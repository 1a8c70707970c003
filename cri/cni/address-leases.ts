// Addresses of pods that no sandbox has any more: host-local keeps a file for each address it gave out, and a runtime that is
// killed between the plug-in's answer and its own record, or loses its state, never gives it back. Such files are found and
// released through the plug-in itself, which has the lock.
// An address that may be in use is never released: the file must be older than any call that may still be under way, no
// sandbox may have its container's id, and no link may lead to the address, but for one whose network namespace is the
// runtime's own and has no process in it.
import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { Runtime } from "../runtime.ts";
import { cniFileName, usualPluginDirectories } from "./configuration.ts";
import { limiterName } from "./bandwidth-script.ts";
import { findPlugin } from "./plugin-files.ts";
import { leaseIndex } from "./pair-script.ts";

/** Longer than a sandbox may take to be made. */
const defaultMinimumAgeMs = 10 * 60_000;
const lookEveryMs = 30 * 60_000;
const patienceMs = 10_000;
const defaultDataDirectory = "/var/lib/cni/networks";

interface Lease {
  readonly address: string;
  readonly containerId: string;
  readonly interfaceName: string;
  readonly ageMs: number;
}

interface NetworkFile {
  readonly name: string;
  readonly cniVersion: string;
  readonly plugins: readonly {
    readonly type: string;
    readonly ipam?: { readonly type?: string; readonly dataDir?: string };
  }[];
}

interface AddressLeasesOptions {
  readonly runtime: Pick<
    Runtime,
    "listPodSandboxes" | "subscribe" | "configuration"
  >;
  /** Where our network configuration is, if it is ours; the runtime's own word counts more. */
  readonly configurationDirectory: string;
  /** A program and its arguments that runs others in the pods' host's network namespace; default: this process's own. */
  readonly wrapper?: readonly string[];
  readonly minimumAgeMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

function run(
  words: readonly string[],
  { input = "", env = {} }: { input?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const [program = "", ...rest] = words;
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      rest,
      { timeout: patienceMs, env: { ...process.env, ...env } },
      (error, output, text) =>
        error
          ? reject(new Error(`${error.message} ${output}${text}`.trim()))
          : resolve(output),
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}

async function leasesIn(directory: string, nowMs: number): Promise<Lease[]> {
  const names = await fs.readdir(directory).catch((): string[] => []);
  const found = await Promise.all(
    names
      .filter((name) => isIP(name) !== 0)
      .map(async (address): Promise<Lease[]> => {
        const file = join(directory, address);
        try {
          const [text, { mtimeMs }] = await Promise.all([
            fs.readFile(file, "utf8"),
            fs.stat(file),
          ]);
          const [containerId = "", interfaceName = ""] = text.split(/\r?\n/);
          return [
            { address, containerId, interfaceName, ageMs: nowMs - mtimeMs },
          ];
        } catch {
          // Given back meanwhile.
          return [];
        }
      }),
  );
  return found.flat().filter(({ containerId }) => containerId !== "");
}

export class AddressLeases {
  readonly #options: AddressLeasesOptions;
  readonly #minimumAgeMs: number;
  #unsubscribe: (() => void) | undefined;
  #timer: Timer | undefined;
  #looking: Promise<unknown> | undefined;
  #stopped = false;

  constructor(options: AddressLeasesOptions) {
    this.#options = options;
    this.#minimumAgeMs = options.minimumAgeMs ?? defaultMinimumAgeMs;
  }

  /** Looks now, at intervals, and when the runtime was away. */
  start(): void {
    this.#unsubscribe = this.#options.runtime.subscribe(({ type }) => {
      if (type === "lost") this.#look();
    });
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unsubscribe?.();
    this.#timer?.cancel();
    await this.#looking;
  }

  #look(): void {
    if (this.#stopped || this.#looking) return;
    this.#timer?.cancel();
    this.#looking = this.reclaim()
      .then(
        ({ waitMs }) => waitMs,
        (err: unknown) => {
          this.#options.logger.debug({ err }, "addresses were not looked at");
          return lookEveryMs;
        },
      )
      .then((waitMs) => {
        this.#looking = undefined;
        if (this.#stopped) return;
        this.#timer = this.#options.clock.after(waitMs, () => this.#look());
      });
  }

  /** Resolves to the addresses that are free again, and when to look the next time. Rejects when the runtime is away. */
  async reclaim(): Promise<{ released: string[]; waitMs: number }> {
    const { runtime, clock, logger } = this.#options;
    const {
      networkDirectory = this.#options.configurationDirectory,
      networkPluginDirectories = [],
    } = await runtime.configuration();
    const plugins = [...networkPluginDirectories, ...usualPluginDirectories];
    const file = join(networkDirectory, cniFileName);
    const text = await fs.readFile(file, "utf8").catch(() => undefined);
    const network = text && (JSON.parse(text) as NetworkFile);
    const [pair] = network ? network.plugins : [];
    if (!network || pair?.ipam?.type !== "host-local")
      return { released: [], waitMs: lookEveryMs };
    const directory = join(
      pair.ipam.dataDir ?? defaultDataDirectory,
      network.name,
    );
    // The files first: what is made later is in neither list.
    const leases = await leasesIn(directory, clock.now());
    const used = new Set(
      (leases.length > 0 ? await runtime.listPodSandboxes() : []).map(
        ({ id }) => id,
      ),
    );
    const lost = leases.filter(({ containerId }) => !used.has(containerId));
    const due = lost.filter(({ ageMs }) => ageMs >= this.#minimumAgeMs);
    const released: string[] = [];
    for (const lease of due)
      try {
        if (await this.#isUnused(lease.address)) {
          await this.#release(network, lease, plugins);
          await this.#removeLimiter(lease.containerId);
          await fs.rm(leaseIndex(directory, lease), { force: true });
          released.push(lease.address);
        }
      } catch (err) {
        logger.warn(
          { err, address: lease.address },
          "an address that no sandbox has could not be released",
        );
      }
    if (released.length > 0)
      logger.info({ addresses: released }, "released addresses of lost pods");
    const young = lost.filter((lease) => !due.includes(lease));
    return {
      released,
      waitMs: Math.min(
        lookEveryMs,
        ...young.map(({ ageMs }) => Math.max(1000, this.#minimumAgeMs - ageMs)),
      ),
    };
  }

  /** A namespace of a pod that never ran is deleted, and its link with it. */
  async #isUnused(address: string): Promise<boolean> {
    const family = isIP(address) === 4 ? "-4" : "-6";
    const routes = await this.#query<{ dev?: string }>(
      ...["ip", "-j", family, "route", "show", address],
    );
    for (const { dev } of routes) {
      if (dev === undefined) continue;
      const [link] = await this.#query<{ link_netnsid?: number }>(
        ...["ip", "-j", "link", "show", "dev", dev],
      );
      const id = link?.link_netnsid;
      const names = await this.#query<{ nsid?: number; name?: string }>(
        ...["ip", "-j", "netns", "list-id"],
      );
      const namespace = names.find(
        ({ nsid, name }) => nsid === id && name?.startsWith("cni-"),
      )?.name;
      if (id === undefined || namespace === undefined) return false;
      const inside = await run(["ip", "netns", "pids", namespace]);
      if (inside.trim() !== "") return false;
      await run(["ip", "netns", "del", namespace]);
      await run([...(this.#options.wrapper ?? []), "ip", "link", "del", dev])
        // It went with its other end.
        .catch(() => undefined);
    }
    return true;
  }

  /** The device of a pod whose bandwidth was limited does not go with its namespace. */
  async #removeLimiter(containerId: string): Promise<void> {
    await run([
      ...(this.#options.wrapper ?? []),
      ...["ip", "link", "del", limiterName(containerId)],
    ]).catch(() => undefined);
  }

  async #query<T>(...words: string[]): Promise<T[]> {
    const text = await run([...(this.#options.wrapper ?? []), ...words]);
    return text.trim() === "" ? [] : (JSON.parse(text) as T[]);
  }

  async #release(
    { name, cniVersion, plugins }: NetworkFile,
    { containerId, interfaceName }: Lease,
    directories: readonly string[],
  ): Promise<void> {
    const plugin = await findPlugin(directories, "host-local");
    if (plugin === undefined)
      throw new Error(
        "the plug-in host-local is not where plug-ins usually are",
      );
    await run([plugin], {
      input: JSON.stringify({ name, cniVersion, ...plugins[0] }),
      env: {
        CNI_COMMAND: "DEL",
        CNI_CONTAINERID: containerId,
        CNI_IFNAME: interfaceName || "eth0",
        CNI_NETNS: "",
        CNI_PATH: directories.join(":"),
      },
    });
  }
}

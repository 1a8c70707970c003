// The files the agent makes for a pod on the host: the managed /etc/hosts, each container's termination log, the links
// to its logs. Directory layout below rootDirectory: pods/<uid>/{etc-hosts,containers/<name>/<id>,volumes}.
import {
  chmod,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { SharedReading } from "../../../api/queueing/shared-reading.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { makeDirectory } from "../../../cri/directories.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import { removeTree } from "../../volumes/files/remove-tree.ts";
import { podLogDirectory, podNames } from "../shape/pod-names.ts";

export class HostFiles {
  readonly #config: AgentConfig;
  /** Names of all pods' ones: pods that go together share a reading. */
  readonly #logDirectories: SharedReading<string[]>;

  constructor(config: AgentConfig) {
    this.#config = config;
    this.#logDirectories = new SharedReading(() =>
      readdir(config.podLogsDirectory).catch((): string[] => []),
    );
  }

  podDirectory(uid: string): string {
    return join(this.#config.rootDirectory, "pods", uid);
  }

  async prepare(pod: Pod): Promise<void> {
    const directory = this.podDirectory(pod.metadata.uid ?? "");
    await Promise.all([
      makeDirectory(directory, 0o750).then(() =>
        Promise.all([
          makeDirectory(join(directory, "volumes"), 0o750),
          makeDirectory(join(directory, "containers"), 0o750),
        ]),
      ),
      makeDirectory(podLogDirectory(this.#config, pod), 0o755),
    ]);
  }

  /** Uids that have a directory, whether or not the pod still exists. */
  async uids(): Promise<string[]> {
    return await readdir(join(this.#config.rootDirectory, "pods")).catch(
      () => [],
    );
  }

  async containerLogDirectory(
    pod: Pod,
    containerName: string,
  ): Promise<string> {
    const directory = join(podLogDirectory(this.#config, pod), containerName);
    await makeDirectory(directory, 0o755);
    return directory;
  }

  /**
   * One more than the highest log number found: the restart count where no container is left that records it, so that
   * the runtime never appends to a log from before a reboot.
   */
  async nextLogNumber(pod: Pod, containerName: string): Promise<number> {
    const names = await readdir(
      join(podLogDirectory(this.#config, pod), containerName),
    ).catch((error: NodeJS.ErrnoException): string[] => {
      if (error.code !== "ENOENT") throw error;
      return [];
    });
    const numbers = names
      .map((name) => Number.parseInt(name, 10))
      .filter((number) => number >= 0);
    return numbers.length === 0 ? 0 : Math.max(...numbers) + 1;
  }

  /** `<pod>_<namespace>_<container>-<id>.log` → the log file, for log collectors. */
  async linkContainerLog(
    pod: Pod,
    containerName: string,
    containerId: string,
    logPath: string,
  ): Promise<void> {
    const { name, namespace = "default" } = pod.metadata;
    const directory = this.#config.containerLogsDirectory;
    const link = join(
      directory,
      `${name}_${namespace}_${containerName}-${containerId}.log`,
    );
    const make = (): Promise<void> => symlink(logPath, link);
    await make()
      .catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        await makeDirectory(directory);
        await make();
      })
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      });
  }

  async unlinkContainerLog(
    podName: string,
    namespace: string,
    containerName: string,
    containerId: string,
  ): Promise<void> {
    await rm(
      join(
        this.#config.containerLogsDirectory,
        `${podName}_${namespace}_${containerName}-${containerId}.log`,
      ),
      {
        force: true,
      },
    );
  }

  /** An empty file that the container may write its last message into. */
  async terminationLog(
    pod: Pod,
    containerName: string,
    attemptKey: string,
  ): Promise<string> {
    const directory = join(
      this.podDirectory(pod.metadata.uid ?? ""),
      "containers",
      containerName,
    );
    await makeDirectory(directory, 0o750);
    const path = join(directory, attemptKey);
    await writeFile(path, "", { mode: 0o666 });
    await chmod(path, 0o666);
    return path;
  }

  /** Writes the managed hosts file; on the host's network the host's own, with the aliases added. */
  async writeHosts(pod: Pod, ips: readonly string[]): Promise<string> {
    const path = join(this.podDirectory(pod.metadata.uid ?? ""), "etc-hosts");
    let text: string;
    if (pod.spec.hostNetwork) {
      const host = await readFile("/etc/hosts", "utf8").catch(() => "");
      text = `# Kubernetes-managed hosts file (host network).\n${host}`;
    } else {
      const { hostname, domain } = podNames(
        pod,
        this.#config.clusterDomain || "cluster.local",
      );
      text = [
        "# Kubernetes-managed hosts file.",
        "127.0.0.1\tlocalhost",
        "::1\tlocalhost ip6-localhost ip6-loopback",
        "fe00::0\tip6-localnet",
        "fe00::0\tip6-mcastprefix",
        "fe00::1\tip6-allnodes",
        "fe00::2\tip6-allrouters",
        ...ips.map((ip) =>
          domain
            ? `${ip}\t${hostname}.${domain}\t${hostname}`
            : `${ip}\t${hostname}`,
        ),
        "",
      ].join("\n");
    }
    const aliases = pod.spec.hostAliases ?? [];
    if (aliases.length > 0) {
      text += "\n# Entries added by HostAliases.\n";
      for (const { ip, hostnames } of aliases)
        text += `${ip}\t${(hostnames ?? []).join("\t")}\n`;
    }
    await writeFile(path, text, { mode: 0o644 });
    return path;
  }

  /** By uid alone; the directory of other agents' pods may be the same. */
  async removeLogs(uid: string): Promise<void> {
    const parent = this.#config.podLogsDirectory;
    for (const name of await this.#logDirectories.value())
      if (name.endsWith(`_${uid}`)) await removeTree(join(parent, name));
  }

  async removePodDirectory(uid: string): Promise<void> {
    await removeTree(this.podDirectory(uid));
  }
}

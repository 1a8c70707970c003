// Docker as the container runtime: how the daemon is configured, by its own word.
import { createDockerConnection } from "../../cri/docker/connection.ts";
import { RuntimeError } from "../../cri/runtime.ts";
import { failed, ok, warning, type Finding } from "./finding.ts";

/** What of `docker info` counts. */
interface DaemonInfo {
  readonly ServerVersion?: string;
  readonly Driver?: string;
  readonly LiveRestoreEnabled?: boolean;
  readonly SecurityOptions?: readonly string[] | null;
  readonly Warnings?: readonly string[] | null;
}

const file = "/etc/docker/daemon.json, and systemctl reload docker";

export function daemonFindings(info: DaemonInfo): Finding[] {
  const security = (info.SecurityOptions ?? []).map(
    (option) => option.split(",")[0],
  );
  const findings: Finding[] = [];
  if (security.includes("name=rootless"))
    findings.push(
      failed(
        "Docker",
        "runs without root, and can't give pods their networks and cgroups",
        "use the daemon of root: unix:///var/run/docker.sock",
      ),
    );
  if (security.includes("name=userns"))
    findings.push(
      failed(
        "Docker",
        "maps the users of all containers (userns-remap), so that pods can't read their volumes",
        'remove "userns-remap" from /etc/docker/daemon.json, and restart Docker',
      ),
    );
  if (info.LiveRestoreEnabled === false)
    findings.push(
      warning(
        "Docker",
        "containers end when the daemon does (live-restore is off)",
        `"live-restore": true in ${file}`,
      ),
    );
  if (info.Driver === "vfs")
    findings.push(
      warning(
        "Docker",
        "copies whole images for each container (storage driver vfs)",
        `"storage-driver": "overlay2" in /etc/docker/daemon.json, and restart Docker`,
      ),
    );
  for (const text of (info.Warnings ?? []).slice(0, 8))
    findings.push(
      warning(
        "Docker",
        text.replace(/^WARNING: /, ""),
        "docker info shows it; the kernel's options decide",
      ),
    );
  return findings.length > 0
    ? findings
    : [ok("Docker", `${info.ServerVersion ?? ""}, ${info.Driver ?? ""}`)];
}

/** Of a daemon that does not answer the runtime's check has said so. */
export async function dockerDaemon(endpoint: string): Promise<Finding[]> {
  const connection = createDockerConnection({
    endpoint,
    requestTimeoutMs: 10_000,
  });
  try {
    await connection.open();
    return daemonFindings(
      (await connection.call("Info", (docker) => docker.info())) as DaemonInfo,
    );
  } catch (error) {
    if (error instanceof RuntimeError) return [];
    throw error;
  } finally {
    connection.close();
  }
}

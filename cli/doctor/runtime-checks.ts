// The machine's own container runtime, where the cluster uses that: whether it answers, serves CRI, and is configured so that
// pods can start. It says itself how it is configured, so that a file of any version, and its imports, count alike.
import { usualPluginDirectories } from "../../cri/cni/configuration.ts";
import { runtimeKind } from "../../cri/open-runtime.ts";
import { RuntimeError, type Runtime } from "../../cri/runtime.ts";
import type { RuntimeConfiguration } from "../../cri/runtime-features.ts";
import { failed, ok, type Finding, type MachineFiles } from "./finding.ts";

type Asked = Pick<
  Runtime,
  "start" | "stop" | "version" | "status" | "configuration"
>;

/** What our network configuration runs. */
const networkPlugins = ["loopback", "ptp", "host-local"];

const dockerFile = "/etc/docker/daemon.json, and restart Docker";

/** What to change where. */
interface Remedies {
  cgroupfs: string;
  plugins: string;
  cdi: string;
}

/** Containerd's file has what concerns the runtime in another section from version 3 of the file on. */
function remedies(name: string, version: string): Remedies {
  if (name === "docker")
    return {
      cgroupfs: `"exec-opts": ["native.cgroupdriver=cgroupfs"] in ${dockerFile}`,
      plugins: "",
      cdi: `Docker 25 or newer with "features": {"cdi": true} in ${dockerFile}`,
    };
  const section = /^v?1\./.test(version)
    ? 'plugins."io.containerd.grpc.v1.cri"'
    : 'plugins."io.containerd.cri.v1.runtime"';
  return {
    cgroupfs: `SystemdCgroup = false in [${section}.containerd.runtimes.runc.options] of the runtime's configuration, and restart it`,
    plugins: `, and name their directory in [${section}.cni] of the runtime's configuration`,
    cdi: `enable_cdi in [${section}]`,
  };
}

async function cgroupDriver(
  { cgroupDriver: driver }: RuntimeConfiguration,
  remedy: Remedies,
  machine: MachineFiles,
): Promise<Finding[]> {
  if (driver === undefined) return [];
  const name = "runtime's cgroup driver";
  // As libsystemd finds out whether systemd runs: by a directory, which may be empty.
  const systemd = (await machine.list("/run/systemd")).includes("system");
  return [
    driver === "systemd" && !systemd
      ? failed(
          name,
          "systemd, which does not run on this machine",
          remedy.cgroupfs,
        )
      : ok(name, `${driver}; the node agent uses the same`),
  ];
}

async function network(
  { networkDirectory, networkPluginDirectories }: RuntimeConfiguration,
  remedy: Remedies,
  machine: MachineFiles,
): Promise<Finding[]> {
  const directories = networkPluginDirectories ?? usualPluginDirectories;
  const present = new Set(
    (await Promise.all(directories.map((each) => machine.list(each)))).flat(),
  );
  const missing = networkPlugins.filter((each) => !present.has(each));
  const name = "network plug-ins";
  const found =
    missing.length > 0
      ? failed(
          name,
          `${missing.join(", ")} not in ${directories.join(", ")}`,
          `apt-get install containernetworking-plugins${remedy.plugins}`,
        )
      : ok(name, directories.join(", "));
  return networkDirectory === undefined
    ? [found]
    : [found, ok("network configuration", `read from ${networkDirectory}`)];
}

async function askedOf(
  runtime: Asked,
  endpoint: string,
  machine: MachineFiles,
): Promise<Finding[]> {
  const name = "container runtime";
  const { runtimeName, runtimeVersion } = await runtime.version();
  const status = await runtime.status();
  const config = await runtime.configuration();
  const remedy = remedies(runtimeName, runtimeVersion);
  const found = `${runtimeName} ${runtimeVersion} at ${endpoint}`;
  const findings = [
    status.runtime.ready
      ? ok(name, found)
      : failed(
          name,
          `${found} is not ready: ${status.runtime.message || status.runtime.reason}`,
          "read the runtime's log",
        ),
    ...(await cgroupDriver(config, remedy, machine)),
  ];
  // Of other runtimes it is not known where they look; for Docker the agent does it.
  if (runtimeName === "containerd" || runtimeName === "docker")
    findings.push(...(await network(config, remedy, machine)));
  if (config.cdi !== undefined)
    findings.push(
      ok(
        "CDI devices",
        config.cdi
          ? "on"
          : `off: pods with such devices are refused (${remedy.cdi})`,
      ),
    );
  return findings;
}

/** @param open a connection to it, not started */
export async function containerRuntime(
  endpoint: string,
  open: () => Promise<Asked>,
  machine: MachineFiles,
): Promise<Finding[]> {
  const name = "container runtime";
  let runtime: Asked | undefined;
  try {
    runtime = await open();
    await runtime.start();
    return await askedOf(runtime, endpoint, machine);
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    return [
      error.code === "unsupported"
        ? failed(
            name,
            `${endpoint} serves no CRI: ${error.detail}`,
            'remove "cri" (in a file of version 3: "io.containerd.grpc.v1.cri") from disabled_plugins in the runtime\'s configuration, and restart it',
          )
        : failed(
            name,
            `${endpoint} does not answer: ${error.detail}`,
            `start it: systemctl restart ${runtimeKind(endpoint) === "docker" ? "docker" : "containerd"}; its log says what is wrong`,
          ),
    ];
  } finally {
    await runtime?.stop();
  }
}

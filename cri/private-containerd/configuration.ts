// The configuration file of a private containerd, in containerd's configuration version 2 (1.6 and 1.7; 2.x reads it
// too). Everything it keeps or listens on lies under the caller's directory, so it lives beside a system containerd.

interface ContainerdConfiguration {
  /** Images, snapshots, metadata: survives reboots. */
  root: string;
  /** Run-time state of tasks. */
  state: string;
  socket: string;
  ttrpcSocket: string;
  pluginDirectory: string;
  cniConfigurationDirectory: string;
  cniBinaryDirectory: string;
  sandboxImage: string;
  /** A directory HOST[:PORT] of each names mirrors, plain HTTP, authorities of that registry (hosts.toml); read at each pull. */
  registryDirectories: readonly string[];
  snapshotter: string;
  /** For hosts where no process may lower its oom_score_adj (no CAP_SYS_RESOURCE). */
  restrictOomScoreAdj: boolean;
  /** systemd makes the containers' cgroups. */
  systemdCgroup: boolean;
  /** Path of the crun that makes the containers of the default runtime; runc stays the handler of its name. */
  crun: string | undefined;
}

/** Plug-ins that only cost start-up time here: snapshotters never chosen, tracing, restart monitor. */
const disabledPlugins = [
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.internal.v1.restart",
  "io.containerd.internal.v1.tracing",
  "io.containerd.tracing.processor.v1.otlp",
];

/**
 * How long containerd waits for a shim's answer about a task. At the end of its own two seconds, which a busy machine
 * takes, it goes on with process 0: a container that is made then wants namespaces in /proc/0 and can't start.
 */
const taskStateTimeout = "10s";

function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A handler of CRI: containerd's shim with an OCI runtime behind it. */
function handler(name: string, options: readonly string[]): string {
  const table = `plugins."io.containerd.grpc.v1.cri".containerd.runtimes.${name}`;
  return `
    [${table}]
      runtime_type = "io.containerd.runc.v2"

      [${table}.options]
${options.map((line) => `        ${line}\n`).join("")}`;
}

export function containerdToml(options: ContainerdConfiguration): string {
  const systemdCgroup = `SystemdCgroup = ${options.systemdCgroup}`;
  return `# Written by orbit at every start; changes are lost.
version = 2
root = ${quoted(options.root)}
state = ${quoted(options.state)}
oom_score = 0
disabled_plugins = [${disabledPlugins.map(quoted).join(", ")}]

[grpc]
  address = ${quoted(options.socket)}
  max_recv_message_size = 67108864
  max_send_message_size = 67108864

[ttrpc]
  address = ${quoted(options.ttrpcSocket)}

[timeouts]
  "io.containerd.timeout.task.state" = "${taskStateTimeout}"

[plugins."io.containerd.internal.v1.opt"]
  path = ${quoted(options.pluginDirectory)}

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${quoted(options.sandboxImage)}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  stream_idle_timeout = "4h0m0s"
  restrict_oom_score_adj = ${options.restrictOomScoreAdj}
  tolerate_missing_hugetlb_controller = true
  disable_hugetlb_controller = false
  max_concurrent_downloads = 3
  enable_cdi = true

  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${quoted(options.cniBinaryDirectory)}
    conf_dir = ${quoted(options.cniConfigurationDirectory)}
    max_conf_num = 1

  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = ${quoted(options.registryDirectories.join(":"))}

  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = ${quoted(options.snapshotter)}
    default_runtime_name = "${options.crun === undefined ? "runc" : "crun"}"
    discard_unpacked_layers = false
${handler("runc", [systemdCgroup])}${
    options.crun === undefined
      ? ""
      : handler("crun", [systemdCgroup, `BinaryName = ${quoted(options.crun)}`])
  }`;
}

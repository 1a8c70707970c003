// Where crun is installed and works, the private containerd's containers are made by it; on a machine with mounts of its own,
// with cgroups of one version and as the machine has them: of both at once crun is shown one.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

/** It has logs of its own. */
const ownLogs = `
  mkdir -p /var/log/pods && mount -t tmpfs tmpfs /var/log/pods`;
/** It loses the second version's hierarchy where that is beside those of the first. */
const oneVersion = `
  [ -d /sys/fs/cgroup/unified ] || exit 0
  mkdir /run/cgroup && mount -t tmpfs cgroup /run/cgroup && cd /sys/fs/cgroup
  for each in *; do
    [ "$each" != unified ] || continue
    if [ -L "$each" ]; then cp -P "$each" /run/cgroup
    else mkdir "/run/cgroup/$each" && mount --bind "$each" "/run/cgroup/$each"; fi
  done
  cd / && umount -R -l /sys/fs/cgroup && mount --move /run/cgroup /sys/fs/cgroup`;

let lan: NodeMachines;
let machine: NodeMachine;

const manifest = (): string =>
  path.join(machine.directory, "manifests", "pod.yaml");

/** What an OCI runtime keeps of each container: runc in state.json, crun in status. */
function keptStates(): string[] {
  const state = "/run/containerd/runc/k8s.io";
  return machine
    .run("sh", "-c", `ls ${state}/*/state.json ${state}/*/status 2>&1 || :`)
    .split("\n")
    .filter((line) => line.startsWith(state))
    .map((file) => path.basename(file));
}

const withLog = (error: Error): never => {
  throw new Error(`${error.message}\n${machine.log().slice(-3000)}`);
};

const shows = (name: string, text: string): Promise<unknown> =>
  eventually(
    () =>
      machine
        .run("sh", "-c", `cat /var/log/pods/*/${name}/*.log 2>/dev/null || :`)
        .includes(text),
    { timeoutMs: 60_000, what: `${text} of ${name}` },
  ).catch(withLog);

afterEach(() => lan?.clean());

async function startAgent(prepare: string): Promise<void> {
  lan = new NodeMachines();
  machine = lan.add("crun", 94, 1);
  await machine.takeOwnMounts();
  machine.run("sh", "-ec", prepare);
  fs.mkdirSync(path.dirname(manifest()));
  await machine.start(
    "agent",
    `--root-dir=${machine.dataDirectory}`,
    `--pod-manifest-path=${path.dirname(manifest())}`,
    "--fail-swap-on=false",
    "--v=2",
  );
  await machine.loadBusybox();
}

const container = (
  name: string,
  script: string,
  more: object = {},
): object => ({
  name,
  image: "docker.io/library/busybox:latest",
  imagePullPolicy: "IfNotPresent",
  command: ["sh", "-c", script],
  ...more,
});

test.each([
  ["of one version", ownLogs + oneVersion],
  ["as the machine has them", ownLogs],
])(
  "with cgroups %s its containers start, are limited, fail, start again and go",
  async (_, prepare) => {
    await startAgent(prepare);
    fs.writeFileSync(
      manifest(),
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "pod" },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            container("stays", "echo here; exec sleep infinity", {
              resources: { limits: { memory: "32Mi", cpu: "100m" } },
              securityContext: {
                runAsUser: 1000,
                readOnlyRootFilesystem: true,
              },
            }),
            container("fails", "echo again; exit 3"),
          ],
        },
      }),
    );
    await shows("stays", "here");
    await shows("fails", "again");
    // The sandbox and the one that runs; the other may be between two starts.
    const states = keptStates();
    expect(states.length).toBeGreaterThanOrEqual(2);
    expect(new Set(states)).toEqual(new Set(["status"]));
    expect(
      machine.run(
        "sh",
        "-c",
        `cat /sys/fs/cgroup/memory${machine.cgroupRoot}/*/*/*/memory.limit_in_bytes \
        /sys/fs/cgroup${machine.cgroupRoot}/*/*/*/memory.max 2>/dev/null || :`,
      ),
    ).toContain(String(32 << 20));
    fs.rmSync(manifest());
    await eventually(() => keptStates().length === 0, {
      timeoutMs: 60_000,
      what: "the end of the pod",
    }).catch(withLog);
  },
);

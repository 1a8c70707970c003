// The container runtime of a node is chosen once. A containerd that comes later, or late, never makes pods run twice; a
// change by option ends this node's pods in the old runtime first.
import * as fs from "node:fs";
import * as path from "node:path";
import { randomBytes } from "node:crypto";
import pino from "pino";
import {
  chooseRuntime,
  type ChosenRuntime,
  type RuntimeChoice,
} from "../../../cli/parts/agent/runtime.ts";
import { DependencyError } from "../../../cli/options/table.ts";
import { endpointFile } from "../../../cli/parts/agent/runtime-endpoint.ts";
import {
  startPrivateContainerd,
  type PrivateContainerd,
} from "../../../cri/private-containerd/private-containerd.ts";
import { removeCgroups } from "../../support/cgroups.ts";
import { announce } from "../../support/run/run-state.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
  useTempDirectories,
} from "../../support/temp-directory.ts";

const directories = useTempDirectories("orbit-test-cri-");
const logger = pino({ level: "silent" });
const cgroupRoot = `/orbit-test-${randomBytes(4).toString("hex")}`;
/** Its directory is the data directory: the private containerd lies where the program looks for it. */
let part: PrivateRuntime;
let machineDirectory: string;
let machine: PrivateContainerd;

beforeAll(async () => {
  announce("cgroup", `${cgroupRoot}-runtime`);
  part = await startPrivateRuntime();
  machineDirectory = makeTempDirectory("orbit-test-cri-");
  machine = await startPrivateContainerd({
    directory: machineDirectory,
    logger,
  });
});
afterAll(async () => {
  // Whatever runs by now.
  await (
    await startPrivateContainerd({ directory: machineDirectory, logger })
  ).stop();
  removeTempDirectory(machineDirectory);
  await part.restart();
  await part.dispose();
  await removeCgroups(`${cgroupRoot}-runtime`);
});

function choose(
  endpoint = "",
  dataDirectory = part.directory,
  change: Partial<RuntimeChoice> = {},
): Promise<ChosenRuntime> {
  return chooseRuntime({
    endpoint,
    dataDirectory,
    rootDirectory: path.join(dataDirectory, "agent"),
    podCidrs: ["10.251.0.0/24"],
    systemdCgroup: false,
    driverFromRuntime: true,
    mapsUsers: false,
    cgroupRoot,
    requestTimeoutMs: 10_000,
    logger,
    machine: {
      endpoint: machine.endpoint,
      cniDirectory: path.join(machineDirectory, "net.d"),
    },
    ...change,
  });
}

const recorded = (directory = part.directory): string =>
  fs.readFileSync(endpointFile(directory), "utf8").trim();

/** On the host's network, as made by the agent of that root directory. */
async function runPod(name: string, agent: string): Promise<void> {
  const { runtime } = part;
  const annotations = { "orbit.io/agent": agent };
  const labels = {
    "io.kubernetes.pod.name": name,
    "io.kubernetes.pod.namespace": "default",
    "io.kubernetes.pod.uid": `uid-${name}`,
    "io.kubernetes.container.name": "main",
  };
  const config = part.sandboxConfig(name, {
    labels,
    annotations,
    hostname: "",
  });
  Object.assign(config, {
    security: { ...config.security, network: "node" },
  });
  const sandbox = await runtime.runPodSandbox(config, "");
  const container = await runtime.createContainer(
    sandbox,
    part.containerConfig(
      "main",
      "trap 'exit 0' TERM; while :; do sleep 0.1; done",
      {
        labels,
        annotations,
      },
    ),
    config,
  );
  await runtime.startContainer(container);
}

test("the first start takes the machine's containerd, and waits for it ever after", async () => {
  const data = directories();
  const first = await choose("", data);
  expect(first).toMatchObject({ endpoint: machine.endpoint, isPrivate: false });
  await first.stop();
  expect(recorded(data)).toBe(machine.endpoint);
  expect(fs.readFileSync(path.join(data, "machine-files"), "utf8")).toBe(
    `${machine.cniConfigurationDirectory}/99-orbit.conflist\n`,
  );
  await machine.stop();
  const late = await choose("", data);
  expect(late).toMatchObject({ endpoint: machine.endpoint, isPrivate: false });
  await expect(late.runtime.version()).rejects.toThrow();
  machine = await startPrivateContainerd({
    directory: machineDirectory,
    logger,
  });
  await late.stop();
  expect(fs.existsSync(path.join(data, "containerd"))).toBe(false);
  // The configuration lies where that runtime looks for it, not where most do.
  expect(fs.existsSync(path.join(machineDirectory, "net.d"))).toBe(false);
});

test("a runtime that leaves cgroups to systemd has its pods' made by systemd, also when it is late", async () => {
  const data = directories();
  const systemd = await startPrivateContainerd({
    directory: path.join(data, "runtime"),
    logger,
    systemdCgroup: true,
  });
  try {
    await expect(
      choose(systemd.endpoint, data, { systemdRuns: false }),
    ).rejects.toThrow(/SystemdCgroup = true.*systemd does not run/);
    const chosen = await choose(systemd.endpoint, data, { systemdRuns: true });
    await chosen.stop();
    expect(chosen.cgroupDriver).toBe("systemd");
    // With another driver than the runtime's no pod would start: said at once, not by each pod.
    await expect(
      choose(systemd.endpoint, data, { driverFromRuntime: false }),
    ).rejects.toThrow(
      "--cgroup-driver=cgroupfs: the container runtime is configured with the driver systemd",
    );
    const alike = await choose(systemd.endpoint, data, {
      ...{ systemdCgroup: true, systemdRuns: true, driverFromRuntime: false },
    });
    await alike.stop();
    expect(alike.cgroupDriver).toBe("systemd");
  } finally {
    await systemd.stop();
  }
  const late = await choose(systemd.endpoint, data, { systemdRuns: true });
  await late.stop();
  expect(late.cgroupDriver).toBe("systemd");
});

test("systemd is not asked for cgroups where it does not run", async () => {
  await expect(
    choose(machine.endpoint, directories(), {
      ...{ systemdCgroup: true, systemdRuns: false, driverFromRuntime: false },
    }),
  ).rejects.toThrow("--cgroup-driver=systemd: systemd does not run");
});

test("a private containerd is kept when the machine gets one of its own", async () => {
  fs.writeFileSync(endpointFile(part.directory), `${part.daemon.endpoint}\n`);
  const chosen = await choose();
  expect(chosen).toMatchObject({
    endpoint: part.daemon.endpoint,
    isPrivate: true,
  });
  await chosen.stop();
  // It left this process's cgroup, and with it whatever ends that.
  expect(fs.readFileSync(`/proc/${part.daemon.pid}/cgroup`, "utf8")).toContain(
    `${cgroupRoot}-runtime`,
  );
});

test("a private containerd that can't be started is a missing dependency", async () => {
  const data = directories();
  fs.writeFileSync(path.join(data, "containerd"), "in the way");
  await expect(choose("private", data)).rejects.toThrow(DependencyError);
});

test("a change by option ends this node's pods in the old runtime first, and no others", async () => {
  const own = path.join(part.directory, "agent");
  await runPod("own", own);
  await runPod("other", "/another/agent");
  const chosen = await choose(machine.endpoint.replace("unix://", ""));
  expect(chosen.endpoint).toBe(machine.endpoint);
  await chosen.stop();
  expect(recorded()).toBe(machine.endpoint);
  // The old one was ended; its other pod runs on.
  expect(fs.existsSync(`/proc/${part.daemon.pid}`)).toBe(false);
  await part.restart();
  const { runtime } = part;
  expect(
    (await runtime.listPodSandboxes()).map(({ metadata }) => metadata.name),
  ).toEqual(["other"]);
  expect((await runtime.listContainers()).map(({ state }) => state)).toEqual([
    "running",
  ]);
});

test("as long as the old runtime can't be asked nothing changes", async () => {
  fs.writeFileSync(endpointFile(part.directory), `${machine.endpoint}\n`);
  await machine.stop();
  await expect(choose("private")).rejects.toThrow(
    /pods may still run in .*containerd\.sock, which does not answer.*runtime-endpoint/,
  );
  expect(recorded()).toBe(machine.endpoint);
  machine = await startPrivateContainerd({
    directory: machineDirectory,
    logger,
  });
  const chosen = await choose("private");
  expect(chosen.isPrivate).toBe(true);
  await chosen.stop();
  expect(recorded()).toBe(part.daemon.endpoint);
});

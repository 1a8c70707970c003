// What only Docker does to pods: a daemon that takes its containers along, one that hangs, names and labels that belong to
// others in the same daemon, images with commands of their own.
import * as fs from "node:fs";
import * as path from "node:path";
import Docker from "dockerode";
import pino from "pino";
import { createDockerRuntime } from "../../../cri/docker/docker-runtime.ts";
import { RuntimeError, type Runtime } from "../../../cri/runtime.ts";
import { busyboxImage, busyboxImageTar } from "../../support/busybox-image.ts";
import { removeCgroups } from "../../support/cgroups.ts";
import { eventually } from "../../support/eventually.ts";
import { startPrivateDocker } from "../../support/private-docker.ts";
import {
  containerConfig,
  sandboxConfig,
} from "../../support/runtime-configurations.ts";
import { announce } from "../../support/run/run-state.ts";
import { stopProcess } from "../../support/stop-process.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

const logger = pino({ level: "silent" });
const cgroupParent = `/orbit-test-docker-${process.pid}`;
let directory: string;
let daemon: Awaited<ReturnType<typeof startPrivateDocker>>;
let docker: Docker;
let runtime: Runtime;

const newRuntime = async (agent: string): Promise<Runtime> => {
  const made = createDockerRuntime({
    endpoint: daemon.endpoint,
    logger,
    requestTimeoutMs: 5000,
    cni: {
      directory: path.join(directory, "net.d"),
      ipamDirectory: path.join(directory, "ipam"),
    },
    stateDirectory: path.join(directory, agent),
    isOwn: ({ owner }) => owner === agent,
  });
  await made.start();
  await made.updatePodCidrs(["10.246.77.0/24"]);
  return made;
};

beforeAll(async () => {
  announce("cgroup", cgroupParent);
  directory = makeTempDirectory("orbit-test-docker-");
  daemon = await startPrivateDocker({
    directory: path.join(directory, "docker"),
    liveRestore: false,
  });
  docker = new Docker({ socketPath: daemon.endpoint.slice("unix://".length) });
  runtime = await newRuntime("agent");
  await runtime.importImage(await busyboxImageTar());
});

afterAll(async () => {
  for (const { Id } of await docker.listContainers({ all: true }))
    await docker.getContainer(Id).remove({ force: true, v: true });
  await runtime?.stop();
  await daemon?.stop();
  await removeCgroups(cgroupParent);
  removeTempDirectory(directory);
});

const leases = (): string[] => {
  const [network] = fs.readdirSync(path.join(directory, "ipam"));
  return fs
    .readdirSync(path.join(directory, "ipam", network!))
    .filter((name) => /^[\d.]+$/.test(name));
};

async function run(
  name: string,
  script: string,
  owner = "agent",
): Promise<{ sandbox: string; container: string; log: string }> {
  const logDirectory = path.join(directory, "logs", name);
  const config = sandboxConfig(name, {
    logDirectory,
    cgroupParent,
    annotations: { owner },
  });
  const sandbox = await runtime.runPodSandbox(config, "");
  const container = await runtime.createContainer(
    sandbox,
    containerConfig("main", script, { annotations: { owner } }),
    config,
  );
  await runtime.startContainer(container);
  return { sandbox, container, log: path.join(logDirectory, "main.log") };
}

const lines = (file: string): string[] =>
  fs.existsSync(file)
    ? fs
        .readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(" ").slice(3).join(" "))
    : [];

async function remove(sandbox: string): Promise<void> {
  await runtime.stopPodSandbox(sandbox);
  await runtime.removePodSandbox(sandbox);
}

test("the daemon takes its containers along: known when it is back, networks released, logs whole", async () => {
  const one = await run(
    "taken",
    "trap 'echo end; exit 4' TERM; i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done",
  );
  await eventually(() => lines(one.log).length > 3);
  expect(leases()).toHaveLength(1);
  await daemon.stop();
  await expect(runtime.listPodSandboxes()).rejects.toMatchObject({
    code: "unavailable",
  });
  await daemon.start();
  await eventually(() => runtime.version());
  await eventually(() => leases().length === 0, { what: "the lease to go" });
  expect(await runtime.containerStatus(one.container)).toMatchObject({
    state: "exited",
    exitCode: 4,
  });
  expect((await runtime.podSandboxStatus(one.sandbox)).ready).toBe(false);
  await eventually(() => lines(one.log).at(-1) === "end");
  const seen = lines(one.log).slice(0, -1);
  expect(seen).toEqual(seen.map((_line, index) => String(index + 1)));
  await remove(one.sandbox);
});

test("a daemon that hangs: calls are given up, and all goes on when it does", async () => {
  const one = await run("hung", "sleep 1000");
  await stopProcess(daemon.pid);
  try {
    await expect(runtime.status()).rejects.toMatchObject({ code: "timeout" });
    await expect(
      runtime.stopContainer(one.container, 0),
    ).rejects.toBeInstanceOf(RuntimeError);
  } finally {
    process.kill(daemon.pid, "SIGCONT");
  }
  await eventually(async () => (await runtime.status()).runtime.ready);
  await remove(one.sandbox);
  expect(await runtime.listPodSandboxes()).toEqual([]);
});

test("what others run in the daemon is neither seen nor touched, whatever their images claim", async () => {
  const one = await run("mine", "sleep 1000");
  const { Labels: labels } = (
    await docker.listContainers({
      filters: { label: ["io.orbit.type=container"] },
    })
  )[0]!;
  const forged = path.join(directory, "forged.log");
  const record = JSON.parse(labels["io.orbit.record"]!) as object;
  // As an image may set them for whoever runs it.
  const other = await docker.createContainer({
    Image: busyboxImage,
    Cmd: ["sh", "-c", "echo evil; exec sleep 1000"],
    HostConfig: { NetworkMode: "none", CgroupParent: cgroupParent },
    Labels: {
      ...labels,
      "io.orbit.record": JSON.stringify({ ...record, logPath: forged }),
    },
  });
  await other.start();
  const again = await newRuntime("agent");
  expect((await again.listContainers()).map(({ id }) => id)).toEqual([
    one.container,
  ]);
  await expect(again.containerStatus(other.id)).rejects.toMatchObject({
    code: "not-found",
  });
  // A second agent sees the first one's pods, as with any runtime, but leaves their logs and networks alone.
  const second = await newRuntime("second");
  expect(await second.listPodSandboxes()).toHaveLength(1);
  expect((await second.podSandboxStatus(one.sandbox)).ready).toBe(true);
  await second.stop();
  await again.stop();
  await remove(one.sandbox);
  expect(fs.existsSync(forged)).toBe(false);
  expect((await other.inspect()).State.Running).toBe(true);
  await other.remove({ force: true });
});

test("a name that is taken: what is left of a cut attempt goes, what runs stays", async () => {
  const config = sandboxConfig("twice", { cgroupParent });
  const first = await runtime.runPodSandbox(config, "");
  await expect(runtime.runPodSandbox(config, "")).rejects.toThrow(
    /name "k8s_POD_twice_.*" is in use by .*, which runs/,
  );
  await docker.getContainer(first).kill();
  await eventually(async () => !(await runtime.podSandboxStatus(first)).ready);
  const second = await runtime.runPodSandbox(config, "");
  expect(second).not.toBe(first);
  expect(leases()).toHaveLength(1);
  await remove(second);
});

test("a command that is not there ends the start as with containerd", async () => {
  const config = sandboxConfig("absent", { cgroupParent });
  const sandbox = await runtime.runPodSandbox(config, "");
  const container = await runtime.createContainer(
    sandbox,
    containerConfig("main", "", { command: ["/nope"] }),
    config,
  );
  await expect(runtime.startContainer(container)).rejects.toThrow(/nope/);
  expect(await runtime.containerStatus(container)).toMatchObject({
    state: "exited",
    exitCode: 128,
    reason: "StartError",
    message: expect.stringContaining("nope") as string,
  });
  await remove(sandbox);
  expect(leases()).toHaveLength(0);
});

test("a sandbox whose network can't be set up leaves nothing", async () => {
  const file = path.join(directory, "net.d/00-bad.conflist");
  fs.writeFileSync(
    file,
    JSON.stringify({ name: "bad", plugins: [{ type: "absent" }] }),
  );
  try {
    await expect(
      runtime.runPodSandbox(sandboxConfig("bad", { cgroupParent }), ""),
    ).rejects.toThrow(
      /failed to setup network for sandbox ".*": failed to find plugin|failed to find plugin "absent"/,
    );
  } finally {
    fs.rmSync(file);
  }
  expect(await runtime.listPodSandboxes()).toEqual([]);
});

test("an image volume is refused by name", async () => {
  const config = sandboxConfig("image-volume", { cgroupParent });
  const sandbox = await runtime.runPodSandbox(config, "");
  const mount = {
    containerPath: "/data",
    hostPath: "",
    readonly: true,
    propagation: "private",
    image: { id: "sha256:1", reference: "data:1" },
  } as const;
  await expect(
    runtime.createContainer(
      sandbox,
      containerConfig("main", "true", { mounts: [mount] }),
      config,
    ),
  ).rejects.toThrow("an image volume is not supported by the docker runtime");
  await runtime.removePodSandbox(sandbox);
});

test("the machine's root can be mounted, which holds the daemon's own directory", async () => {
  const config = sandboxConfig("root", {
    logDirectory: path.join(directory, "logs/root"),
    cgroupParent,
  });
  const sandbox = await runtime.runPodSandbox(config, "");
  fs.writeFileSync(path.join(directory, "here"), "seen");
  const mount = {
    containerPath: "/host",
    hostPath: "/",
    readonly: true,
    propagation: "private",
  } as const;
  const container = await runtime.createContainer(
    sandbox,
    containerConfig("main", "sleep 1000", { mounts: [mount] }),
    config,
  );
  await runtime.startContainer(container);
  const { stdout } = await runtime.execSync(
    container,
    [
      "sh",
      "-c",
      `cat /host${directory}/here; touch /host${directory}/x || echo kept`,
    ],
    10_000,
  );
  expect(stdout.toString()).toBe("seenkept\n");
  expect(fs.existsSync(path.join(directory, "x"))).toBe(false);
  await remove(sandbox);
});

test("layers that images share count once in what images take", async () => {
  const [before] = await runtime.imageFsInfo();
  await docker.getImage("busybox:latest").tag({ repo: "shared", tag: "1" });
  const container = await docker.createContainer({ Image: "busybox:latest" });
  await container.commit({ repo: "shared", tag: "2", changes: "USER 5" });
  await container.remove();
  const [after] = await runtime.imageFsInfo();
  expect(before!.usedBytes).toBeGreaterThan(1 << 20);
  expect(after!.usedBytes).toBeLessThan(before!.usedBytes + (1 << 19));
  for (const name of ["shared:1", "shared:2"])
    await docker.getImage(name).remove();
});

test("an exec that can't start says why in the runtime's words alone", async () => {
  const { sandbox, container } = await run("exec-fails", "sleep 1000");
  const session = await runtime.exec(container, ["nope"], {
    stdin: false,
    stdout: true,
    stderr: true,
    tty: false,
  });
  await expect(session.exit).rejects.toThrow(/^OCI runtime exec failed: /);
  await runtime.removePodSandbox(sandbox);
});

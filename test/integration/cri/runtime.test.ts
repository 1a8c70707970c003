// The whole Runtime contract, the same on a real containerd and on a real dockerd, private ones.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pino from "pino";
import { openRuntime } from "../../../cri/open-runtime.ts";
import { startPrivateContainerd } from "../../../cri/private-containerd/private-containerd.ts";
import {
  RuntimeError,
  type ContainerConfig,
  type RuntimeEvent,
  type SandboxConfig,
} from "../../../cri/runtime.ts";
import { buildSandboxImage } from "../../../cri/sandbox-image/image.ts";
import { busyboxImage, busyboxImageTar } from "../../support/busybox-image.ts";
import { eventually } from "../../support/eventually.ts";
import {
  runtimeKinds,
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

describe.each(runtimeKinds)("%s", (kind) => {
  let part: PrivateRuntime;
  const events: RuntimeEvent[] = [];

  beforeAll(async () => {
    part = await startPrivateRuntime({ kind });
    part.runtime.subscribe((event) => events.push(event));
  });

  // What a test that failed left would make others fail: an image that is in use, an address that is taken.
  afterEach(async () => {
    const left = await part?.runtime.listPodSandboxes().catch(() => []);
    for (const { id } of left ?? []) await remove(id).catch(() => undefined);
  });
  afterAll(() => part?.dispose());

  async function text(stream: Readable | undefined): Promise<string> {
    const parts: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>)
      parts.push(chunk);
    return Buffer.concat(parts).toString();
  }

  /** A running container in a sandbox of its own. */
  async function run(
    name: string,
    script: string,
    change: Partial<ContainerConfig> = {},
  ): Promise<{ sandboxId: string; containerId: string; log: string }> {
    const sandbox = part.sandboxConfig(name);
    const sandboxId = await part.runtime.runPodSandbox(sandbox, "");
    const config = part.containerConfig("c", script, change);
    const containerId = await part.runtime.createContainer(
      sandboxId,
      config,
      sandbox,
    );
    await part.runtime.startContainer(containerId);
    return {
      sandboxId,
      containerId,
      log: path.join(sandbox.logDirectory, config.logPath),
    };
  }

  async function remove(sandboxId: string): Promise<void> {
    await part.runtime.stopPodSandbox(sandboxId);
    await part.runtime.removePodSandbox(sandboxId);
  }

  function code(promise: Promise<unknown>): Promise<string> {
    return promise.then(
      () => "no error",
      (error: unknown) =>
        error instanceof RuntimeError ? error.code : String(error),
    );
  }

  test("a pod's life, with its events", async () => {
    const { runtime } = part;
    const { sandboxId, containerId, log } = await run(
      "life",
      "trap 'exit 3' TERM; echo hello; while :; do sleep 0.05; done",
      { env: [{ name: "A", value: "1" }] },
    );
    const sandbox = await runtime.podSandboxStatus(sandboxId, true);
    expect(sandbox).toMatchObject({ ready: true, labels: { name: "life" } });
    expect(sandbox.ips).toHaveLength(1);
    expect(fs.existsSync(`/proc/${sandbox.pid}`)).toBe(true);
    const status = await runtime.containerStatus(containerId, true);
    expect(status).toMatchObject({
      sandboxId,
      state: "running",
      name: "c",
      exitCode: 0,
      finishedAtMs: 0,
    });
    expect(fs.existsSync(`/proc/${status.pid}`)).toBe(true);
    await eventually(() =>
      fs.readFileSync(log, "utf8").endsWith("stdout F hello\n"),
    );

    expect(
      (await runtime.listContainers({ sandboxId })).map(({ id }) => id),
    ).toEqual([containerId]);
    expect(
      (await runtime.listContainers({ labels: { name: "nobody" } })).length,
    ).toBe(0);
    expect(
      (await runtime.listPodSandboxes({ name: "life" })).map(({ id }) => id),
    ).toEqual([sandboxId]);

    await runtime.stopContainer(containerId, 60);
    expect(await runtime.containerStatus(containerId)).toMatchObject({
      state: "exited",
      exitCode: 3,
      reason: "Error",
    });
    await eventually(() =>
      events.some(({ type, id }) => type === "exited" && id === containerId),
    );
    await runtime.removeContainer(containerId);
    await remove(sandboxId);
    await eventually(() =>
      events.some(({ type, id }) => type === "deleted" && id === sandboxId),
    );
    const types = events
      .filter(({ id }) => id === containerId)
      .map(({ type }) => type);
    expect(types).toEqual(["created", "started", "exited", "deleted"]);
    // All of it again is success.
    await runtime.stopContainer(containerId, 0);
    await runtime.removeContainer(containerId);
    await remove(sandboxId);
  });

  test("when an exit is announced status and list show it", async () => {
    const seen: string[] = [];
    const stop = part.runtime.subscribe(({ type, id }) => {
      if (type === "exited")
        void Promise.all([
          part.runtime.listContainers(),
          part.runtime.containerStatus(id),
        ]).then(
          ([listed, { state }]) =>
            seen.push(state, listed.find((each) => each.id === id)!.state),
          () => undefined,
        );
    });
    const pods = await Promise.all(
      [1, 2, 3].map((number) => run(`short-${number}`, "exit 1")),
    );
    await eventually(() => seen.length === 6);
    stop();
    expect(new Set(seen)).toEqual(new Set(["exited"]));
    await Promise.all(pods.map(({ sandboxId }) => remove(sandboxId)));
  });

  test("execSync", async () => {
    const { runtime } = part;
    const { sandboxId, containerId } = await run("sync", "sleep 1000");
    const result = await runtime.execSync(
      containerId,
      ["sh", "-c", "echo out; echo err >&2; exit 4"],
      30_000,
    );
    expect(result.stdout.toString()).toBe("out\n");
    expect(result.stderr.toString()).toBe("err\n");
    expect(result.exitCode).toBe(4);
    expect(
      await code(runtime.execSync(containerId, ["sleep", "9"], 1000)),
    ).toBe("timeout");
    // Neither containerd 1.6 nor Docker has the call; later ones want a program for it that is not there.
    const { runtimeVersion } = await runtime.version();
    await expect(
      runtime.checkpointContainer(containerId, "/nowhere/c.tar", 0),
    ).rejects.toMatchObject({
      message: expect.stringMatching(
        kind === "containerd" && /^v?[2-9]/.test(runtimeVersion)
          ? /^rpc error: code = \w+ desc = /
          : /^rpc error: code = Unimplemented desc = .*CheckpointContainer/,
      ) as string,
    });
    expect(await code(runtime.execSync(containerId, ["nope"], 30_000))).toBe(
      "unknown",
    );
    expect(await code(runtime.execSync("nope", ["true"], 30_000))).toBe(
      "not-found",
    );
    await remove(sandboxId);
  });

  test("exec, attach and port-forward stream", async () => {
    const { runtime } = part;
    const { sandboxId, containerId } = await run(
      "stream",
      'nc -ll -p 8080 -e cat & while sleep 0.1; do echo waiting; done & while read l; do echo "got $l"; [ $l = bye ] && exit 0; done',
      { stdin: true },
    );
    const all = { stdin: true, stdout: true, stderr: true, tty: false };

    const exec = await runtime.exec(
      containerId,
      ["sh", "-c", "cat; echo err >&2; exit 7"],
      all,
    );
    exec.stdin!.end("hello");
    expect(await Promise.all([text(exec.stdout), text(exec.stderr)])).toEqual([
      "hello",
      "err\n",
    ]);
    expect(await exec.exit).toBe(7);

    const count = await runtime.exec(containerId, ["wc", "-c"], all);
    count.stdin!.end(Buffer.alloc(5_000_000));
    expect((await text(count.stdout)).trim()).toBe("5000000");

    const terminal = await runtime.exec(
      containerId,
      [
        "sh",
        "-c",
        'until [ "$(stty size 2>/dev/null)" = "43 101" ]; do sleep 0.05; done; stty size',
      ],
      { ...all, tty: true },
    );
    terminal.resize({ width: 101, height: 43 });
    expect((await text(terminal.stdout)).trim()).toBe("43 101");

    const closed = await runtime.exec(containerId, ["sleep", "1000"], all);
    closed.close();
    await expect(closed.exit).rejects.toThrow();

    const missing = await runtime.exec(containerId, ["nope"], all);
    // The words are those of runc or of crun.
    await expect(missing.exit).rejects.toThrow(/executable file .*not found/);

    const forward = await runtime.portForward(sandboxId, 8080);
    forward.end("ping");
    expect(await text(forward)).toBe("ping");
    await expect(
      connection(runtime.portForward(sandboxId, 8081)),
    ).rejects.toThrow("8081");

    const attach = await runtime.attach(containerId, all);
    // containerd begins to copy the input before the output has its listener: what is written at once may be answered into nothing.
    await once(attach.stdout!, "readable");
    attach.stdin!.write("one\nbye\n");
    const answers = await text(attach.stdout);
    expect(answers.replaceAll("waiting\n", "")).toBe("got one\ngot bye\n");
    expect(await attach.exit).toBe(0);
    // The shim of containerd 1.6 may end when a container is killed while it ends: the pod would have to be removed again.
    await eventually(
      async () =>
        (await runtime.containerStatus(containerId)).state === "exited",
    );
    await remove(sandboxId);
  });

  test("a shared PID namespace gets no zombies: the sandbox lets the kernel reap", async () => {
    const { runtime } = part;
    const sandbox = part.sandboxConfig("reap");
    sandbox.security.pid = "pod";
    const sandboxId = await runtime.runPodSandbox(sandbox, "");
    const config = part.containerConfig("c", "sleep 1000");
    config.security.pid = "pod";
    const containerId = await runtime.createContainer(
      sandboxId,
      config,
      sandbox,
    );
    await runtime.startContainer(containerId);
    // Orphans whose parent is gone belong to PID 1.
    await runtime.execSync(
      containerId,
      ["sh", "-c", "(sleep 0.05 &) ; (true &)"],
      30_000,
    );
    // The shell of the call itself, the one that sleeps, pause and what the shell runs: all orphans have gone, unreaped by none.
    await eventually(async () => {
      const { stdout } = await runtime.execSync(
        containerId,
        [
          "sh",
          "-c",
          "grep -l '^Name:.sleep' /proc/[0-9]*/status 2>/dev/null | wc -l; grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null; cat /proc/1/comm",
        ],
        30_000,
      );
      expect(stdout.toString()).toBe("1\npause\n");
      return true;
    });
    await remove(sandboxId);
  });

  test("resources, limits and an OOM kill", async () => {
    const { runtime } = part;
    const { sandboxId, containerId } = await run(
      "oom",
      "until [ -e /go ]; do sleep 0.05; done; tail /dev/zero",
      { resources: { memoryLimitBytes: 16 * 1024 * 1024, cpuShares: 64 } },
    );
    await runtime.updateContainerResources(containerId, {
      memoryLimitBytes: 20 * 1024 * 1024,
      cpuShares: 128,
    });
    expect(
      (await runtime.containerStatus(containerId)).resources,
    ).toMatchObject({
      cpuShares: 128,
      memoryLimitBytes: 20 * 1024 * 1024,
    });
    const stats = await runtime.containerStats();
    expect(stats.find(({ id }) => id === containerId)).toMatchObject({
      name: "c",
    });
    const { pid } = await runtime.containerStatus(containerId, true);
    fs.writeFileSync(`/proc/${pid}/root/go`, "");
    await eventually(
      async () =>
        (await runtime.containerStatus(containerId)).state === "exited",
    );
    await eventually(async () => {
      expect(await runtime.containerStatus(containerId)).toMatchObject({
        exitCode: 137,
        // The daemon's status has it only when it heard of it before the exit; its event tells in any case.
        reason:
          kind === "docker"
            ? expect.stringMatching(/^(OOMKilled|Error)$/)
            : "OOMKilled",
      });
      return true;
    });
    await eventually(() =>
      events.some(({ type, id }) => type === "oom" && id === containerId),
    );
    await remove(sandboxId);
  });

  test("log rotation", async () => {
    const { sandboxId, containerId, log } = await run(
      "rotate",
      "while :; do echo line; sleep 0.02; done",
    );
    await eventually(() => fs.readFileSync(log, "utf8").includes("line"));
    const container = { id: containerId, logPath: log };
    const { logs } = part.runtime;
    await logs.rotate(container, 3);
    await eventually(() => fs.readFileSync(log, "utf8").includes("line"));
    expect(await logs.sizeBytes(container)).toBeGreaterThan(0);
    expect(await logs.tail(container, 1, 100)).toBe("line\n");
    expect(
      fs
        .readdirSync(path.dirname(log))
        .filter((name) => /\.log\.\d/.test(name)),
    ).toHaveLength(1);
    await remove(sandboxId);
  });

  test("a sandbox may make few system calls, unless it asks for another profile", async () => {
    const { runtime, daemon } = part;
    const filter = async (config: SandboxConfig): Promise<string> => {
      const id = await runtime.runPodSandbox(config, "");
      const { pid, ready } = await runtime.podSandboxStatus(id, true);
      expect(ready).toBe(true);
      // runc has reported success before it runs the program.
      await eventually(() =>
        fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("pause"),
      );
      const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
      await remove(id);
      return /^Seccomp:\s*(\d)/m.exec(status)![1]!;
    };
    if (daemon.sandboxSeccompProfile === undefined) return;
    const profile = fs.readFileSync(daemon.sandboxSeccompProfile, "utf8");
    expect(profile).toContain("SCMP_ACT_ERRNO");
    expect(profile).not.toMatch(/"(mount|ptrace|setns|unshare|bpf|socket)"/);
    const { security, ...rest } = part.sandboxConfig("filtered");
    const seccomp = { type: "runtime-default" } as const;
    expect(await filter({ ...rest, security: { ...security, seccomp } })).toBe(
      "2",
    );
    expect(
      await filter({
        ...rest,
        security: { ...security, seccomp: { type: "unconfined" } },
      }),
    ).toBe("0");
  });

  describe("images", () => {
    test("the sandbox image is pinned, an imported one when asked", async () => {
      const { runtime } = part;
      expect(
        (await runtime.imageStatus(buildSandboxImage().name))?.pinned,
      ).toBe(true);
      expect((await runtime.imageStatus("busybox"))?.pinned).toBe(false);
      expect(await runtime.imageStatus("nobody/nothing")).toBeUndefined();
      expect(
        await runtime.importImage(await busyboxImageTar(), { pinned: true }),
      ).toEqual([busyboxImage]);
      expect((await runtime.imageStatus(busyboxImage))?.pinned).toBe(true);
    });

    test("gzip'd archives and docker archives", async () => {
      const { runtime, directory } = part;
      const zipped = path.join(directory, "busybox.tar.gz");
      fs.writeFileSync(
        zipped,
        execFileSync("gzip", ["-c", await busyboxImageTar()], {
          maxBuffer: 1 << 28,
        }),
      );
      expect(await runtime.importImage(zipped)).toEqual([busyboxImage]);

      // The pause image as a docker archive only: without the OCI index.
      const both = path.join(directory, "both.tar");
      fs.writeFileSync(both, buildSandboxImage().tar);
      const unpacked = makeDirectory(directory, "docker-archive");
      execFileSync("tar", ["-xf", both, "-C", unpacked]);
      fs.rmSync(path.join(unpacked, "index.json"));
      const manifest = path.join(unpacked, "manifest.json");
      fs.writeFileSync(
        manifest,
        fs
          .readFileSync(manifest, "utf8")
          .replace("orbit.local/pause:1", "only:docker"),
      );
      const docker = path.join(directory, "docker.tar");
      execFileSync("tar", ["-cf", docker, "-C", unpacked, "."]);
      expect(await runtime.importImage(docker)).toEqual([
        "docker.io/library/only:docker",
      ]);
      const image = await runtime.imageStatus("only:docker");
      expect(image?.id).toBe(buildSandboxImage().id);
      await runtime.removeImage("only:docker");
      expect(
        await runtime.imageStatus("docker.io/library/only:docker"),
      ).toBeUndefined();
    });

    test("zstd'd archives, and images saved into an archive and read back", async () => {
      const { runtime, directory } = part;
      const zipped = path.join(directory, "busybox.tar.zst");
      execFileSync("zstd", ["-q", await busyboxImageTar(), "-o", zipped]);
      expect(await runtime.importImage(zipped)).toEqual([busyboxImage]);
      fs.truncateSync(zipped, 5000);
      await expect(runtime.importImage(zipped)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("zstd: ") as string,
      });

      const before = (await runtime.imageStatus(busyboxImage))!;
      const saved = path.join(directory, "saved.tar");
      const built = path.join(directory, "built.tar");
      fs.writeFileSync(built, buildSandboxImage().tar);
      const [pause = ""] = await runtime.importImage(built);
      await pipeline(
        await runtime.exportImages(["busybox", pause]),
        fs.createWriteStream(saved),
      );
      await runtime.removeImage(busyboxImage);
      expect(await runtime.imageStatus(busyboxImage)).toBeUndefined();
      expect((await runtime.importImage(saved)).sort()).toEqual([
        busyboxImage,
        pause,
      ]);
      expect((await runtime.imageStatus(busyboxImage))?.id).toBe(before.id);
      expect(await runtime.downloads()).toEqual([]);
      expect(await code(runtime.exportImages(["nowhere/none:1"]))).toBe(
        "not-found",
      );
      expect(await code(runtime.exportImages(["A B"]))).toBe("invalid");
    });

    test("a large layer is streamed", async () => {
      const { runtime, directory } = part;
      const unpacked = path.join(directory, "large");
      fs.mkdirSync(unpacked);
      const layer = path.join(directory, "layer");
      fs.mkdirSync(layer);
      execFileSync("sh", [
        "-c",
        `head -c 200000000 /dev/urandom > ${layer}/big`,
      ]);
      execFileSync("tar", [
        "-cf",
        path.join(unpacked, "layer.tar"),
        "-C",
        layer,
        "big",
      ]);
      const sum = execFileSync("sha256sum", [path.join(unpacked, "layer.tar")])
        .toString()
        .split(" ")[0]!;
      fs.writeFileSync(
        path.join(unpacked, "config.json"),
        JSON.stringify({
          architecture: process.arch === "arm64" ? "arm64" : "amd64",
          os: "linux",
          config: {},
          rootfs: { type: "layers", diff_ids: [`sha256:${sum}`] },
        }),
      );
      fs.writeFileSync(
        path.join(unpacked, "manifest.json"),
        JSON.stringify([
          { Config: "config.json", RepoTags: ["large"], Layers: ["layer.tar"] },
        ]),
      );
      const tar = path.join(directory, "large.tar");
      execFileSync("tar", ["-cf", tar, "-C", unpacked, "."]);
      const before = process.memoryUsage().rss;
      expect(await runtime.importImage(tar)).toEqual([
        "docker.io/library/large:latest",
      ]);
      expect(process.memoryUsage().rss - before).toBeLessThan(160_000_000);
      expect(
        (await runtime.imageStatus("large"))!.sizeBytes,
      ).toBeGreaterThanOrEqual(200_000_000);
    });

    test.each([
      ["not a tar", Buffer.from("x".repeat(2000)), "not a tar"],
      ["empty", Buffer.alloc(1024), "empty"],
      ["truncated", buildSandboxImage().tar.subarray(0, 3000), "truncated"],
    ])("a bad archive is refused: %s", async (name, bytes, message) => {
      const file = path.join(part.directory, `${name}.tar`);
      fs.writeFileSync(file, bytes);
      await expect(part.runtime.importImage(file)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining(message) as string,
      });
    });

    test("a blob that is not what its name says is refused", async () => {
      const tar = Buffer.from(buildSandboxImage().tar);
      const at = tar.indexOf("\x7fELF");
      tar[at + 200]! ^= 1;
      const file = path.join(part.directory, "forged.tar");
      fs.writeFileSync(
        file,
        tar
          .toString("latin1")
          .replaceAll("orbit.local/pause:1", "orbit.local/pausf:1"),
        "latin1",
      );
      // The layer is there already under its name, so a wrong one is never stored, and the index's digest differs.
      const names = await part.runtime
        .importImage(file)
        .catch((error: RuntimeError) => error.code);
      const image = await part.runtime.imageStatus("orbit.local/pausf:1");
      expect(image === undefined || image.id === buildSandboxImage().id).toBe(
        true,
      );
      expect(names).toBeDefined();
    });

    test("pulling without a registry fails with a text", async () => {
      await expect(
        part.runtime.pullImage("127.0.0.1:1/nothing:1"),
      ).rejects.toBeInstanceOf(RuntimeError);
    });
  });

  test("the daemon restarts: calls fail fast, the pod goes on, one lost event, everything works again", async () => {
    const { runtime } = part;
    const { sandboxId, containerId } = await run("survivor", "sleep 1000");
    const { pid } = await runtime.containerStatus(containerId, true);
    await part.daemon.stop();
    // A call that waited for the daemon to its own deadline would say "timeout".
    expect(await code(runtime.version())).toBe("unavailable");
    expect(fs.existsSync(`/proc/${pid}`)).toBe(true);
    const before = events.filter(({ type }) => type === "lost").length;
    await part.restart();
    await eventually(
      () => events.filter(({ type }) => type === "lost").length > before,
    );
    expect(events.filter(({ type }) => type === "lost").length).toBe(
      before + 1,
    );
    expect(await runtime.containerStatus(containerId, true)).toMatchObject({
      state: "running",
      pid,
    });
    await runtime.stopContainer(containerId, 0);
    await eventually(() =>
      events.some(({ type, id }) => type === "exited" && id === containerId),
    );
    await remove(sandboxId);
  });

  test("kill -9 of the daemon: adopted state after the next start", async () => {
    const { runtime } = part;
    const { sandboxId, containerId } = await run("killed", "sleep 1000");
    process.kill(part.daemon.pid, "SIGKILL");
    await part.restart();
    await eventually(
      async () =>
        (await runtime.containerStatus(containerId)).state === "running",
    );
    await remove(sandboxId);
  });

  test("a new process finds the pods of a daemon that was just started", async () => {
    const { sandboxId } = await run("found", "sleep 1000");
    await part.restart();
    const fresh = await part.newRuntime();
    await fresh.start();
    expect(
      (await fresh.listPodSandboxes({ name: "found" })).map(({ id }) => id),
    ).toEqual([sandboxId]);
    await fresh.stop();
    // The connection of before the restart mends itself a moment later.
    await eventually(
      async () => (await code(part.runtime.version())) === "no error",
    );
    await remove(sandboxId);
  });

  test("a runtime that is not there: start resolves, calls fail, and it is found when it comes", async () => {
    const socket = path.basename(part.daemon.endpoint);
    const later = path.join(makeDirectory(part.directory, "later"), socket);
    const runtime = await openRuntime({
      endpoint: later,
      logger: pino({ level: "silent" }),
    });
    await runtime.start();
    expect(await code(runtime.version())).toBe("unavailable");
    fs.symlinkSync(part.daemon.endpoint.replace("unix://", ""), later);
    await eventually(
      async () => (await code(runtime.version())) === "no error",
    );
    await runtime.stop();
  });

  if (kind === "containerd")
    test("what runs although its start was cut short is removed", async () => {
      const sandbox = part.sandboxConfig("cut-short");
      const sandboxId = await part.runtime.runPodSandbox(sandbox, "");
      const containerId = await part.runtime.createContainer(
        sandboxId,
        part.containerConfig("c", "trap '' TERM; sleep 3600"),
        sandbox,
      );
      // As containerd is left when its caller is killed at that moment: CRI has no part in this start.
      execFileSync("ctr", [
        ...["--address", part.daemon.endpoint.replace("unix://", "")],
        ...["--namespace", "k8s.io", "task", "start", "--detach", "--null-io"],
        containerId,
      ]);
      expect((await part.runtime.containerStatus(containerId)).state).toBe(
        "created",
      );
      await part.runtime.stopContainer(containerId, 0);
      await part.runtime.removeContainer(containerId);
      expect(await part.runtime.listContainers({ sandboxId })).toEqual([]);
      await remove(sandboxId);
      expect(await part.runtime.listPodSandboxes()).toEqual([]);
    });

  if (kind === "containerd")
    test("a second start adopts the running containerd", async () => {
      const directory = path.join(part.directory, "containerd");
      const logger = pino({ level: "silent" });
      const again = await startPrivateContainerd({ directory, logger });
      expect(again.adopted).toBe(true);
      expect(again.pid).toBe(part.daemon.pid);
      // A pid that is somebody else's by now is not touched.
      fs.writeFileSync(
        path.join(directory, "containerd.json"),
        JSON.stringify({ pid: process.pid, startTicks: "1" }),
      );
      await part.daemon.stop();
      const fresh = await startPrivateContainerd({ directory, logger });
      expect(fresh.adopted).toBe(false);
      await fresh.stop();
      await part.restart();
    });
});

/** Some runtimes connect before they answer, some after. */
async function connection(opening: Promise<Duplex>): Promise<void> {
  const opened = await opening;
  opened.resume();
  await new Promise((_resolve, reject) => opened.once("error", reject));
}

function makeDirectory(...parts: string[]): string {
  const directory = path.join(...parts);
  fs.mkdirSync(directory);
  return directory;
}

// What Docker is asked and what its answers mean, without a daemon.
import * as fs from "node:fs";
import * as path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { containerStatus, imageSummary } from "../../../cri/docker/answers.ts";
import { readProgress } from "../../../cri/docker/images/progress.ts";
import {
  containerRecord,
  labelsOf,
  readRecord,
  sandboxRecord,
} from "../../../cri/docker/records.ts";
import {
  containerRequest,
  resourcesRequest,
  sandboxRequest,
  type DaemonFacts,
} from "../../../cri/docker/requests.ts";
import { securityOptions } from "../../../cri/docker/security-options.ts";
import { readFrames } from "../../../cri/docker/streams/stream-frames.ts";
import type { ContainerConfig, SandboxConfig } from "../../../cri/runtime.ts";
import { containerConfig } from "../../support/runtime-configurations.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const facts: DaemonFacts = {
  cgroupDriver: "cgroupfs",
  cgroupVersion: 1,
  cdi: false,
  runtimes: ["runc", "kata"],
  defaultRuntime: "runc",
  seccomp: true,
  apparmor: false,
  rootDirectory: "/var/lib/docker",
  storageDriver: "overlay2",
};
const sandbox: SandboxConfig = {
  metadata: { name: "web", namespace: "default", uid: "u1", attempt: 2 },
  hostname: "web",
  logDirectory: "/logs/web",
  portMappings: [],
  labels: { app: "web" },
  annotations: { owner: "me" },
  cgroupParent: "/kubepods/kubepods-podu1.slice",
  sysctls: {},
  security: {
    network: "pod",
    pid: "container",
    ipc: "pod",
    privileged: false,
    readonlyRootfs: false,
    supplementalGroups: [],
  },
};
const container: ContainerConfig = {
  ...containerConfig("main", ""),
  attempt: 1,
  imageRef: "sha256:1",
  command: [],
  labels: {},
  logPath: "main/1.log",
};
const request = (
  change: Partial<ContainerConfig>,
  security: Partial<ContainerConfig["security"]> = {},
  runtimeHandler = "",
  daemon: DaemonFacts = facts,
) => {
  const config = {
    ...container,
    ...change,
    security: { ...container.security, ...security },
  };
  return containerRequest({
    record: containerRecord("s1", config, sandbox),
    config,
    sandbox,
    securityOptions: [],
    facts: daemon,
    runtimeHandler,
  });
};

describe("records", () => {
  const record = containerRecord("s1", container, sandbox);
  const labels = labelsOf(record);
  const name = "/k8s_main_web_default_u1_1";

  test("come back from the labels, under the container's own name only", () => {
    expect(readRecord(labels, [name])).toEqual(record);
    expect(record.logPath).toBe("/logs/web/main/1.log");
    // An image that brings the labels of a pod along.
    expect(readRecord(labels, ["/cheerful_lamport"])).toBeUndefined();
    expect(readRecord(labels, [])).toBeUndefined();
  });

  test.each(["{", "null", "5", "[]", '{"type":"container"}'])(
    "%s is no record",
    (text) => {
      expect(readRecord({ "io.orbit.record": text }, [name])).toBeUndefined();
    },
  );

  test("a pod's own labels can't pass for the agent's", () => {
    const config = {
      ...sandbox,
      labels: { "io.orbit.type": "container", "io.orbit.record": "{}" },
    };
    const own = sandboxRecord(config, "", "/state");
    const found = labelsOf(own);
    expect(found["io.orbit.type"]).toBe("sandbox");
    expect(readRecord(found, ["/k8s_POD_web_default_u1_2"])).toEqual(own);
  });
});

describe("requests", () => {
  test("namespaces of the pod", () => {
    expect(request({}, { pid: "pod" }).HostConfig).toMatchObject({
      NetworkMode: "container:s1",
      IpcMode: "container:s1",
      PidMode: "container:s1",
    });
    expect(
      request({}, { pid: "target", targetId: "t" }).HostConfig?.PidMode,
    ).toBe("container:t");
    expect(
      request({}, { network: "node", pid: "node", ipc: "node" }).HostConfig,
    ).toMatchObject({ PidMode: "host", IpcMode: "host", UTSMode: "host" });
  });

  test("image defaults that a pod does not have are switched off", () => {
    expect(request({})).toMatchObject({
      Healthcheck: { Test: ["NONE"] },
      HostConfig: { Init: false, RestartPolicy: { Name: "no" } },
    });
  });

  test("users and groups", () => {
    expect(request({}, { runAsUser: 0, runAsGroup: 5 }).User).toBe("0:5");
    expect(request({}, { runAsUsername: "app" }).User).toBe("app");
    expect(() => request({}, { runAsGroup: 5 })).toThrow(
      "user group is specified without user",
    );
  });

  test("of two mounts at one place the later one counts", () => {
    const mount = (hostPath: string, containerPath: string) => ({
      hostPath,
      containerPath,
      readonly: false,
      propagation: "private" as const,
    });
    const mounts = [mount("/a", "/data/"), mount("/b", "/data")];
    expect(request({ mounts }).HostConfig?.Mounts).toMatchObject([
      { Source: "/b", Target: "/data" },
    ]);
  });

  test("a private mount is not named so: above the daemon's directory that would be refused", () => {
    const mounts = (["private", "host-to-container"] as const).map(
      (propagation) => ({
        hostPath: "/",
        containerPath: `/${propagation}`,
        readonly: true,
        propagation,
      }),
    );
    const [plain, following] = request({ mounts }).HostConfig!.Mounts!;
    expect(plain).not.toHaveProperty("BindOptions");
    expect(following!.BindOptions).toEqual({ Propagation: "rslave" });
  });

  test("no swap beyond the memory's limit", () => {
    expect(resourcesRequest({ memoryLimitBytes: 5 })).toMatchObject({
      Memory: 5,
      MemorySwap: 5,
    });
    expect(resourcesRequest({})).not.toHaveProperty("MemorySwap");
  });

  test("with the systemd driver the cgroup's parent is a slice", () => {
    const parent = (cgroupDriver: string) =>
      sandboxRequest({
        record: sandboxRecord(sandbox, "", ""),
        config: sandbox,
        image: "i",
        securityOptions: [],
        facts: { ...facts, cgroupDriver },
        oomScoreAdj: undefined,
      }).HostConfig?.CgroupParent;
    expect(parent("systemd")).toBe("kubepods-podu1.slice");
    expect(parent("cgroupfs")).toBe(sandbox.cgroupParent);
  });

  test("CDI devices are asked of a daemon that has them, of another one refused by name", () => {
    const cdiDevices = ["vendor.com/gpu=0"];
    expect(
      request({ cdiDevices }, {}, "", { ...facts, cdi: true }).HostConfig
        ?.DeviceRequests,
    ).toEqual([{ Driver: "cdi", DeviceIDs: cdiDevices }]);
    expect(() => request({ cdiDevices })).toThrow(
      "CDI devices (vendor.com/gpu=0) are not enabled in the docker daemon",
    );
    expect(request({}).HostConfig).not.toHaveProperty("DeviceRequests");
  });

  test("what Docker can't do is refused by name", () => {
    const mount = {
      hostPath: "/a",
      containerPath: "/a",
      readonly: true,
      propagation: "private" as const,
      recursiveReadOnly: true,
    };
    expect(() => request({ mounts: [mount] })).toThrow(
      "a recursive read-only mount is not supported by the docker runtime",
    );
    const image = { id: "sha256:1", reference: "i" };
    expect(() =>
      request({
        mounts: [{ ...mount, hostPath: "", recursiveReadOnly: false, image }],
      }),
    ).toThrow("an image volume is not supported by the docker runtime");
    expect(() =>
      request({ resources: { unified: { "memory.high": "1" } } }),
    ).toThrow(/^memory.high of the unified cgroup hierarchy, .* not supported/);
    expect(() => request({}, {}, "gvisor")).toThrow(
      'no runtime for "gvisor" is configured',
    );
    expect(request({}, {}, "kata").HostConfig?.Runtime).toBe("kata");
  });
});

describe("security profiles", () => {
  const options = (
    security: Parameters<typeof securityOptions>[0],
    daemon = facts,
  ) => securityOptions(security, daemon);

  test("none means unconfined, the runtime's own is the daemon's", async () => {
    expect(await options({ privileged: false })).toEqual([
      "seccomp=unconfined",
    ]);
    const seccomp = { type: "runtime-default" } as const;
    expect(
      await options({ privileged: false, seccomp, noNewPrivs: true }),
    ).toEqual(["no-new-privileges"]);
    expect(await options({ privileged: true, seccomp })).toEqual([
      "seccomp=unconfined",
    ]);
  });

  test("a file's text is sent, and one that is not there refused", async () => {
    const file = path.join(directories(), "profile.json");
    const seccomp = { type: "localhost", localhostRef: file } as const;
    await expect(options({ privileged: false, seccomp })).rejects.toThrow(
      /failed to load seccomp profile/,
    );
    fs.writeFileSync(file, '{\n "defaultAction": "SCMP_ACT_ALLOW"\n}');
    expect(await options({ privileged: false, seccomp })).toEqual([
      'seccomp={"defaultAction":"SCMP_ACT_ALLOW"}',
    ]);
  });

  test("what the daemon can't enforce is refused", async () => {
    const type = "localhost" as const;
    await expect(
      options({
        privileged: false,
        apparmor: { type, localhostRef: "strict" },
      }),
    ).rejects.toThrow(/AppArmor is not supported/);
    await expect(
      options(
        { privileged: false, seccomp: { type: "runtime-default" } },
        { ...facts, seccomp: false },
      ),
    ).rejects.toThrow(/seccomp is not supported/);
  });
});

describe("answers", () => {
  const info = (State: object) =>
    ({
      Id: "c",
      Created: "2026-01-01T00:00:00.5Z",
      Mounts: [],
      HostConfig: {},
      State: {
        Status: "exited",
        StartedAt: "2026-01-01T00:00:01Z",
        FinishedAt: "2026-01-01T00:00:02Z",
        Error: "",
        ExitCode: 0,
        OOMKilled: false,
        ...State,
      },
    }) as never;
  const record = containerRecord("s1", container, sandbox);
  const status = (State: object) => containerStatus(info(State), record, false);

  test("why a container ended", () => {
    expect(status({})).toMatchObject({ reason: "Completed", exitCode: 0 });
    expect(status({ ExitCode: 3 })).toMatchObject({ reason: "Error" });
    expect(status({ ExitCode: 137, OOMKilled: true }).reason).toBe("OOMKilled");
  });

  test("one that could not be started has ended, as with containerd", () => {
    expect(
      status({
        Status: "created",
        ExitCode: 127,
        Error: 'exec: "nope": executable file not found in $PATH',
        StartedAt: "0001-01-01T00:00:00Z",
        FinishedAt: "0001-01-01T00:00:00Z",
      }),
    ).toMatchObject({
      state: "exited",
      reason: "StartError",
      exitCode: 128,
      startedAtMs: 0,
      message: expect.stringContaining("nope") as string,
    });
    expect(status({ Status: "created" })).toMatchObject({ state: "created" });
  });

  test("images have full names, and the pin is none", () => {
    expect(
      imageSummary({
        Id: "sha256:1",
        RepoTags: ["busybox:latest", "orbit.local/pinned:0123"],
        RepoDigests: ["<none>@<none>"],
        Size: 5,
      }),
    ).toEqual({
      id: "sha256:1",
      repoTags: ["docker.io/library/busybox:latest"],
      repoDigests: [],
      sizeBytes: 5,
      pinned: true,
    });
  });
});

describe("streams", () => {
  const frame = (stream: number, text: string): Buffer => {
    const head = Buffer.alloc(8);
    head[0] = stream;
    head.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([head, Buffer.from(text)]);
  };
  const collect = async (bytes: Buffer, size: number): Promise<string[]> => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      chunks.push(bytes.subarray(at, at + size));
    const texts = ["", ""];
    const sinks = texts.map((_text, index) => {
      const sink = new PassThrough({ highWaterMark: 2 });
      sink.on("data", (part: Buffer) => (texts[index] += part.toString()));
      return sink;
    });
    await readFrames(Readable.from(chunks), {
      stdout: sinks[0],
      stderr: sinks[1],
    });
    return texts;
  };

  test.each([1, 2, 3, 7, 8, 9, 100])(
    "frames cut every %d bytes are put together",
    async (size) => {
      const bytes = Buffer.concat([
        frame(1, "one "),
        frame(2, "error"),
        frame(1, ""),
        frame(1, "two"),
      ]);
      expect(await collect(bytes, size)).toEqual(["one two", "error"]);
    },
  );

  test("what is in no frame is refused", async () => {
    await expect(collect(Buffer.from("no frames at all"), 5)).rejects.toThrow(
      /not in frames/,
    );
  });
});

describe("reports on long calls", () => {
  const read = (...chunks: string[]) => {
    let heard = 0;
    return readProgress(Readable.from(chunks), () => heard++).then((text) => ({
      text,
      heard,
    }));
  };

  test("an error that comes last fails the call", async () => {
    await expect(
      read('{"status":"Pulling"}\r\n{"err', 'or":"manifest unknown"}\r\n'),
    ).rejects.toThrow("manifest unknown");
  });

  test("each piece is heard, texts are joined", async () => {
    expect(await read('{"stream":"a"}\n', '{"stream":"b"}')).toEqual({
      text: "ab",
      heard: 2,
    });
  });

  test("what is no report fails the call", async () => {
    await expect(read("<html>\n")).rejects.toThrow();
  });
});

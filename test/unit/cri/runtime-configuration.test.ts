// What containerd says of its configuration, in answers of three versions of it with files of version 2 and 3: who makes
// cgroups, where networks are looked for, whether there are CDI devices, which image sandboxes run.
import {
  runtimeConfiguration,
  sandboxImageName,
} from "../../../cri/containerd/runtime-configuration.ts";
import { sandboxCalls } from "../../../cri/containerd/sandbox-calls.ts";
import { SandboxImage } from "../../../cri/sandbox-image/present-image.ts";
import { RuntimeError } from "../../../cri/runtime.ts";
import { sandboxConfig } from "../../support/runtime-configurations.ts";

const unimplemented = new RuntimeError(
  "unsupported",
  "unknown method RuntimeConfig",
);

/** @param driver CRI's answer; an error: the runtime gives none */
function connection(
  config: unknown,
  driver: number | Error | undefined,
): never {
  return {
    call(method: string) {
      if (method === "Status")
        return Promise.resolve({
          info: {
            config:
              typeof config === "string" ? config : JSON.stringify(config),
          },
        });
      if (driver instanceof Error) return Promise.reject(driver);
      return Promise.resolve(
        driver === undefined ? {} : { linux: { cgroup_driver: driver } },
      );
    },
  } as never;
}

const runtimes = (SystemdCgroup: boolean, name = "runc"): object => ({
  defaultRuntimeName: name,
  runtimes: {
    [name]: {
      runtimeType: "io.containerd.runc.v2",
      options: { SystemdCgroup },
    },
  },
});

/** As 1.6 and 1.7 show a file of version 2. */
const second = {
  containerd: runtimes(true),
  cni: { binDir: "/opt/cni/bin", confDir: "/etc/cni/net.d", maxConfNum: 1 },
  enableCDI: false,
  sandboxImage: "registry.example/pause:3.8",
};
/** As 2.1 shows a file of version 3. */
const third = {
  containerd: runtimes(false),
  cni: {
    binDir: "",
    binDirs: ["/srv/plugins", "/usr/lib/cni"],
    confDir: "/srv/net.d",
  },
  enableCDI: true,
};

test("of a file of version 2", async () => {
  expect(await runtimeConfiguration(connection(second, unimplemented))).toEqual(
    {
      cgroupDriver: "systemd",
      cdi: false,
      networkDirectory: "/etc/cni/net.d",
      networkPluginDirectories: ["/opt/cni/bin"],
    },
  );
  expect(await sandboxImageName(connection(second, unimplemented))).toBe(
    "registry.example/pause:3.8",
  );
});

test("of a file of version 3, which names no sandbox image", async () => {
  expect(await runtimeConfiguration(connection(third, 1))).toEqual({
    cgroupDriver: "cgroupfs",
    cdi: true,
    networkDirectory: "/srv/net.d",
    networkPluginDirectories: ["/srv/plugins", "/usr/lib/cni"],
  });
  expect(await sandboxImageName(connection(third, 1))).toBeUndefined();
});

test("the runtime's own answer counts more than what it shows", async () => {
  expect(await runtimeConfiguration(connection(third, 0))).toMatchObject({
    cgroupDriver: "systemd",
  });
  expect(
    await runtimeConfiguration(connection(second, undefined)),
  ).toMatchObject({ cgroupDriver: "systemd" });
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["no object", '["a"]'],
  ["null", "null"],
  ["other types", '{"containerd":[],"cni":7,"enableCDI":"yes"}'],
  ["no handlers", '{"containerd":{"runtimes":null},"cni":{"binDirs":[3]}}'],
])("a runtime that shows %s has said nothing", async (_, config) => {
  const answer = connection(config, unimplemented);
  expect(await runtimeConfiguration(answer)).toEqual({});
  expect(await sandboxImageName(answer)).toBeUndefined();
});

test("a number that CRI does not have is no driver", async () => {
  expect(
    (await runtimeConfiguration(connection({}, 7))).cgroupDriver,
  ).toBeUndefined();
});

test("a runtime that is away is not one that says nothing", async () => {
  const away = new RuntimeError("unavailable", "no connection");
  await expect(runtimeConfiguration(connection(second, away))).rejects.toBe(
    away,
  );
});

/** Containerd 2 shows the image's name when it is missing, and nowhere else. */
test.each([
  [
    'failed to get sandbox image "example.com/pause:own": failed to pull image',
    "example.com/pause:own",
  ],
  ["failed to get sandbox image: not found", undefined],
])(
  "%s: the image is imported under the name that is asked for",
  async (message, name) => {
    const imported: (string | undefined)[] = [];
    const image = new SandboxImage((given) => {
      imported.push(given);
      return Promise.resolve();
    }, {} as never);
    let tries = 0;
    const calls = sandboxCalls(
      {
        connection: {
          call: () =>
            ++tries === 1
              ? Promise.reject(new RuntimeError("unknown", message))
              : Promise.resolve({ pod_sandbox_id: "s" }),
        },
        requestTimeoutMs: 1000,
      } as never,
      image,
      undefined,
      {} as never,
    );
    expect(await calls.runPodSandbox(sandboxConfig("a"), "")).toBe("s");
    expect(imported).toEqual([name]);
  },
);

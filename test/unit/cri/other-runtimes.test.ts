// A runtime that speaks CRI and is not containerd, CRI-O for instance: what needs containerd's own services is left out or
// refused by name, and nothing else fails.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Connection } from "../../../cri/containerd/connection.ts";
import { containerCalls } from "../../../cri/containerd/container-calls.ts";
import { importImageArchive } from "../../../cri/containerd/image-import.ts";
import { PinnedImages } from "../../../cri/containerd/pinned-images.ts";
import { RuntimeError } from "../../../cri/runtime.ts";
import { buildSandboxImage } from "../../../cri/sandbox-image/image.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

function connection(
  code: RuntimeError["code"],
): Connection & { calls: number } {
  const made = {
    calls: 0,
    service() {
      made.calls++;
      return Promise.reject(
        new RuntimeError(code, "unknown service containerd.services"),
      );
    },
  };
  return made as never;
}

test("no image is pinned by a label that the runtime does not know, and it is asked once", async () => {
  const other = connection("unsupported");
  const pinned = new PinnedImages(other, new FakeClock());
  expect(await pinned.names()).toEqual(new Set());
  pinned.forget();
  expect(await pinned.names()).toEqual(new Set());
  expect(other.calls).toBe(1);
});

test("a failure of containerd is none of another runtime", async () => {
  const pinned = new PinnedImages(connection("unavailable"), new FakeClock());
  await expect(pinned.names()).rejects.toMatchObject({ code: "unavailable" });
});

test("an import is refused by name", async () => {
  const file = path.join(directories(), "pause.tar");
  fs.writeFileSync(file, buildSandboxImage().tar);
  await expect(
    importImageArchive(connection("unsupported"), file, {
      pinned: false,
      leaseId: "lease",
    }),
  ).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("takes no image archives") as string,
  });
});

/** containerCalls on a runtime of that version; what it was asked for is kept. */
function callsOf(
  runtime_name: string,
  runtime_version: string,
  info: Readonly<Record<string, string>> = {},
) {
  const asked: string[] = [];
  const calls = containerCalls({
    connection: {
      call(name: string) {
        asked.push(name);
        return Promise.resolve(
          {
            Version: { runtime_name, runtime_version },
            Status: { info },
          }[name] ?? { container_id: "c" },
        );
      },
    } as never,
    requestTimeoutMs: 1000,
    clock: new FakeClock(),
    whileEnding: (_id, _how, ending) => ending(),
  });
  const image = { id: "sha256:1", reference: "data:1" };
  const mounts = [
    { containerPath: "/d", hostPath: "", readonly: true, image },
  ].map((mount) => ({ ...mount, propagation: "private" as const }));
  const config = { env: [], devices: [], security: {} };
  return {
    asked,
    create: (given = mounts, cdiDevices: readonly string[] = []) =>
      calls.createContainer(
        "s",
        { ...config, mounts: given, cdiDevices } as never,
        { security: {}, portMappings: [] } as never,
      ),
  };
}

test.each(["1.6.20~ds1", "v1.7.24", "2.0.5"])(
  "containerd %s is not asked for an image volume, which it would leave out",
  async (version) => {
    const { asked, create } = callsOf("containerd", version);
    await expect(create()).rejects.toMatchObject({
      code: "unsupported",
      message: `containerd ${version} does not support image volumes: 2.1 or later is needed`,
    });
    expect(asked).toEqual(["Version"]);
    expect(await create([])).toBe("c");
    expect(asked).toEqual(["Version", "CreateContainer"]);
  },
);

test.each([
  ["containerd", "2.1.9+unknown"],
  ["containerd", "v2.2.0"],
  ["cri-o", "1.31.0"],
])("%s %s is", async (name, version) => {
  expect(await callsOf(name, version).create()).toBe("c");
});

test.each<[string, Record<string, string>, string]>([
  ["1.6.20", {}, "containerd 1.6.20 does not support CDI devices: 1.7"],
  ["1.7.24", { config: '{"enableCDI":false}' }, "enable_cdi is false"],
])(
  "containerd %s %j gets no CDI devices, which it would leave out",
  async (version, info, message) => {
    const { asked, create } = callsOf("containerd", version, info);
    await expect(create([], ["example.com/gpu=a"])).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(message) as string,
    });
    expect(asked).not.toContain("CreateContainer");
  },
);

test.each<[string, string, Record<string, string>]>([
  ["containerd", "1.7.24", { config: '{"enableCDI":true}' }],
  ["containerd", "2.1.9", { config: "{}" }],
  ["containerd", "2.1.9", {}],
  ["cri-o", "1.31.0", { config: "[crio]" }],
])("%s %s %j does", async (name, version, info) => {
  const { create } = callsOf(name, version, info);
  expect(await create([], ["example.com/gpu=a"])).toBe("c");
});

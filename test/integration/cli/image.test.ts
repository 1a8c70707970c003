// `orbit image` and --image-service-endpoint on a real containerd: archives in and out, what is unused removed, pulls that fail,
// and images asked for at a socket of their own.
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import pino from "pino";
import { runImage } from "../../../cli/image.ts";
import { DependencyError, UsageError } from "../../../cli/options/table.ts";
import { chooseRuntime } from "../../../cli/parts/agent/runtime.ts";
import { openRuntime } from "../../../cri/open-runtime.ts";
import { busyboxImage, busyboxImageTar } from "../../support/busybox-image.ts";
import { startFaultProxy } from "../../support/fault-proxy.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

let part: PrivateRuntime;
beforeAll(async () => {
  part = await startPrivateRuntime();
});
afterAll(() => part?.dispose());

/** What the command wrote to standard output. */
async function image(...argv: string[]): Promise<string> {
  const written: string[] = [];
  const write = jest
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => Boolean(written.push(String(text))));
  try {
    await runImage([
      ...argv,
      `--container-runtime-endpoint=${part.daemon.endpoint}`,
    ]);
  } finally {
    write.mockRestore();
  }
  return written.join("");
}

test("an image is saved, pruned and loaded", async () => {
  const file = path.join(part.directory, "out.tar");
  expect(await image("save", "busybox", "-o", file)).toBe(
    `saved busybox to ${file}\n`,
  );
  expect(fs.existsSync(`${file}.partial`)).toBe(false);
  const sandbox = part.sandboxConfig("keeper");
  const sandboxId = await part.runtime.runPodSandbox(sandbox, "");
  const containerId = await part.runtime.createContainer(
    sandboxId,
    part.containerConfig("c", "sleep 1000"),
    sandbox,
  );
  expect(await image("prune")).toBe("freed 0.0 kB\n");
  expect(await image("list")).toContain(busyboxImage);
  await part.runtime.removeContainer(containerId);
  expect(await image("prune")).toMatch(
    /^removed docker\.io\/library\/busybox:latest\nfreed /,
  );
  const left = await image("list");
  expect(left).not.toContain("busybox");
  // Pinned.
  expect(left).toContain("orbit.local/pause");
  expect(await image("load", file)).toBe(`loaded ${busyboxImage}\n`);
  await part.runtime.importImage(await busyboxImageTar(), { pinned: true });
  expect(await image("prune")).toBe("freed 0.0 kB\n");
});

test("a pull shows what the registry said, and how far it is", async () => {
  // A registry that lets the first request wait, so that the progress is asked for meanwhile.
  const registry = http.createServer((_request, response) => {
    setTimeout(() => response.writeHead(500).end(), 700);
  });
  await new Promise<void>((resolve) =>
    registry.listen(0, "127.0.0.1", resolve),
  );
  const { port } = registry.address() as { port: number };
  try {
    await expect(image("pull", `127.0.0.1:${port}/a/b:c`)).rejects.toThrow(
      DependencyError,
    );
  } finally {
    registry.closeAllConnections();
    registry.close();
  }
});

test.each([
  [["save", "busybox"], /needs a file to write: -o FILE/],
  [["save"], /image save needs a name: orbit image save NAME… -o FILE/],
  [["prune", "x"], /image prune takes no names/],
  [["pull", "A b"], /invalid image name/],
  [["load", "/nowhere.tar"], /"\/nowhere.tar" does not exist/],
  [["save", "busybox", "-o", "/nowhere/x.tar"], /can't write "\/nowhere/],
  [["rm", "x"], /unknown command "image rm"; there are: load, list, pull/],
])("%j is refused", async (argv, text) => {
  const failure = image(...argv);
  await expect(failure).rejects.toThrow(UsageError);
  await expect(failure).rejects.toThrow(text);
});

test("--image-service-endpoint: images are asked for there alone", async () => {
  const images = await startFaultProxy(part.daemon.endpoint, part.directory);
  const runtime = await openRuntime({
    endpoint: part.daemon.endpoint,
    imageEndpoint: images.endpoint,
    logger: pino({ level: "silent" }),
    ensureSandboxImage: false,
  });
  await runtime.start();
  try {
    expect((await runtime.listImages()).length).toBeGreaterThan(0);
    await runtime.version();
    await runtime.listContainers();
    expect([...images.calls.keys()].sort()).toEqual(["List", "ListImages"]);
    images.faults = () => ({ kind: "error", code: 14, done: false });
    await expect(runtime.imageStatus("busybox")).rejects.toThrow();
    await runtime.listPodSandboxes();
  } finally {
    await runtime.stop();
    await images.close();
  }
});

test("another image service than Docker's own is refused by name", async () => {
  await expect(
    chooseRuntime({
      endpoint: part.daemon.endpoint,
      imageEndpoint: "unix:///run/docker.sock",
      dataDirectory: path.join(part.directory, "data"),
      rootDirectory: part.directory,
      podCidrs: [],
      cgroupRoot: "/none",
      systemdCgroup: false,
      driverFromRuntime: true,
      mapsUsers: false,
      requestTimeoutMs: 1000,
      logger: pino({ level: "silent" }),
      machine: { endpoint: "unix:///none", cniDirectory: part.directory },
    }),
  ).rejects.toThrow(/^--image-service-endpoint: Docker and another/);
});

// Streams of @kubernetes/client-node against a whole node: logs followed, exec, attach, port-forward, cp.
import * as fs from "node:fs";
import * as net from "node:net";
import * as path from "node:path";
import { PassThrough, Readable } from "node:stream";
import * as k8s from "@kubernetes/client-node";
import { busyboxImageTar } from "../../support/busybox-image.ts";
import { eventually } from "../../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../../support/start-orbit.ts";

let orbit: RunningOrbit;
let config: k8s.KubeConfig;
const namespace = "default";

beforeAll(async () => {
  const tar = await busyboxImageTar();
  orbit = await startOrbit();
  await orbit.orbit([
    "image",
    "load",
    `--data-dir=${orbit.directory}/data`,
    tar,
  ]);
  config = new k8s.KubeConfig();
  config.loadFromFile(orbit.kubeconfig);
  const core = config.makeApiClient(k8s.CoreV1Api);
  await core.createNamespacedPod({
    namespace,
    body: {
      metadata: { name: "streams" },
      spec: {
        hostNetwork: true,
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: "main",
            image: "busybox",
            imagePullPolicy: "IfNotPresent",
            stdin: true,
            command: [
              "sh",
              "-c",
              "echo first; while read line; do echo got $line; done; exec sleep 3600",
            ],
          },
        ],
      },
    },
  });
  await eventually(
    async () =>
      (await core.readNamespacedPod({ name: "streams", namespace })).status
        ?.phase === "Running",
    { timeoutMs: 90_000, intervalMs: 100, what: "the pod to run" },
  );
});
afterAll(async () => {
  await orbit?.clean();
});

/** A stream whose text can be looked at. */
function sink(): { stream: PassThrough; text(): string } {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return { stream, text: () => text };
}

test("exec: output, errors, exit code", async () => {
  const out = sink();
  const err = sink();
  const status = await new Promise<k8s.V1Status>((resolve, reject) => {
    new k8s.Exec(config)
      .exec(
        namespace,
        "streams",
        "main",
        ["sh", "-c", "echo out; echo err >&2; exit 3"],
        out.stream,
        err.stream,
        null,
        false,
        resolve,
      )
      .catch(reject);
  });
  expect(status).toMatchObject({
    status: "Failure",
    reason: "NonZeroExitCode",
  });
  expect(status.details?.causes?.[0]).toMatchObject({
    reason: "ExitCode",
    message: "3",
  });
  expect([out.text(), err.text()]).toEqual(["out\n", "err\n"]);
});

test("exec with stdin that ends", async () => {
  const out = sink();
  await new Promise<k8s.V1Status>((resolve, reject) => {
    new k8s.Exec(config)
      .exec(
        namespace,
        "streams",
        "main",
        ["head", "-n", "2"],
        out.stream,
        null,
        Readable.from(["a\nb\n"]),
        false,
        resolve,
      )
      .catch(reject);
  });
  expect(out.text()).toBe("a\nb\n");
});

test("attach and followed logs see what is written", async () => {
  const logs = sink();
  await new k8s.Log(config).log(namespace, "streams", "main", logs.stream, {
    follow: true,
  });
  logs.stream.on("error", () => undefined);
  await eventually(() => logs.text().includes("first\n"), {
    what: "the first line",
  });
  const out = sink();
  const input = new PassThrough();
  const socket = await new k8s.Attach(config).attach(
    namespace,
    "streams",
    "main",
    out.stream,
    null,
    input,
    false,
  );
  input.write("one\n");
  await eventually(() => out.text().includes("got one"), {
    what: "attach's output",
  });
  await eventually(() => logs.text().includes("got one"), {
    what: "the log's line",
  });
  const tail = sink();
  await new k8s.Log(config).log(namespace, "streams", "main", tail.stream, {
    tailLines: 1,
  });
  await eventually(() => tail.text() === "got one\n", {
    what: "the last line",
  });
  socket.close();
});

test("port-forward", async () => {
  const echo = net.createServer((socket) =>
    socket.pipe(socket).on("error", () => undefined),
  );
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  try {
    const out = sink();
    const input = new PassThrough();
    const forwarded = await new k8s.PortForward(config).portForward(
      namespace,
      "streams",
      [(echo.address() as net.AddressInfo).port],
      out.stream,
      null,
      input,
    );
    input.write("through");
    await eventually(() => out.text() === "through", { what: "the echo" });
    const socket = typeof forwarded === "function" ? forwarded() : forwarded;
    socket?.close();
  } finally {
    echo.close();
  }
});

test("cp there and back", async () => {
  const here = path.join(orbit.directory, "cp/copied");
  const back = path.join(orbit.directory, "back");
  for (const directory of [here, back])
    fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(here, "file.txt"), "x".repeat(100_000));
  const cp = new k8s.Cp(config);
  // Its promises end before the copy has.
  await cp.cpToPod(namespace, "streams", "main", path.dirname(here), "/tmp");
  await eventually(
    async () => {
      const out = sink();
      await new Promise((resolve, reject) => {
        new k8s.Exec(config)
          .exec(
            namespace,
            "streams",
            "main",
            ["wc", "-c", "/tmp/copied/file.txt"],
            out.stream,
            null,
            null,
            false,
            resolve,
          )
          .catch(reject);
      });
      return out.text().startsWith("100000 ");
    },
    { intervalMs: 200, what: "the copy in the pod" },
  );
  await cp.cpFromPod(namespace, "streams", "main", "copied", back, "/tmp");
  await eventually(
    () => fs.statSync(path.join(back, "copied/file.txt")).size === 100_000,
    { what: "the copy back" },
  );
});

test("a followed log ends with its pod", async () => {
  const logs = sink();
  let ended = false;
  logs.stream.on("end", () => (ended = true));
  await new k8s.Log(config).log(namespace, "streams", "main", logs.stream, {
    follow: true,
  });
  await config
    .makeApiClient(k8s.CoreV1Api)
    .deleteNamespacedPod({ name: "streams", namespace, gracePeriodSeconds: 0 });
  await eventually(() => ended, { what: "the log's end" });
});

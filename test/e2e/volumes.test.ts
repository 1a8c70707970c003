// Volumes of claims on a whole node: the built-in class, generic ephemeral volumes, and a CSI driver of ours, with pods in
// containerd, kubectl, and a daemon that is killed in between.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { CsiHostPathDriver } from "../support/plugins/csi-driver.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";

let orbit: RunningOrbit;

beforeAll(async () => {
  const tar = await busyboxImageTar();
  orbit = await startOrbit();
  await orbit.orbit([
    "image",
    "load",
    `--data-dir=${orbit.directory}/data`,
    tar,
  ]);
});

afterAll(async () => {
  await orbit?.clean();
});

const agentRoot = (): string => path.join(orbit.directory, "data/agent");
const localPath = (): string[] => {
  const directory = path.join(agentRoot(), "local-path");
  return fs.existsSync(directory) ? fs.readdirSync(directory) : [];
};

async function apply(text: string): Promise<void> {
  const applied = await orbit.kubectl("apply -f -", { stdin: text });
  expect(applied.stderr).toBe("");
}

async function field(what: string, jsonpath: string): Promise<string> {
  const [kind, name] = what.split("/");
  return (
    await orbit.kubectl(["get", kind!, name!, "-o", `jsonpath=${jsonpath}`])
  ).stdout;
}

const phase = (what: string, wanted: string) =>
  eventually(async () => (await field(what, "{.status.phase}")) === wanted, {
    timeoutMs: 30_000,
    intervalMs: 200,
    what: `${what} to be ${wanted}`,
  });

const gone = (what: () => boolean, name: string) =>
  eventually(what, { timeoutMs: 45_000, intervalMs: 200, what: name });

const claim = (name: string, more = "") => `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ${name}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}${more}}
`;

const pod = (name: string, script: string, volume: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  containers:
  - name: main
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "${script}"]
    volumeMounts: [{name: v, mountPath: /v}]
  volumes: [{name: v, ${volume}}]
`;

test("a claim of the default class keeps what pods write, and is removed with it", async () => {
  await apply(claim("data"));
  const volume = "persistentVolumeClaim: {claimName: data}";
  await apply(pod("writer", "echo kept > /v/file", volume));
  await phase("pod/writer", "Succeeded");
  await orbit.kubectl("delete pod writer");
  await apply(pod("reader", "cat /v/file", volume));
  await phase("pod/reader", "Succeeded");
  expect((await orbit.kubectl("logs reader")).stdout).toBe("kept\n");
  const name = await field("pvc/data", "{.spec.volumeName}");
  expect(localPath()).toEqual([name]);
  await orbit.kubectl("delete pod reader");
  await orbit.kubectl("delete pvc data");
  await gone(() => localPath().length === 0, "the directory to go");
  await eventually(
    async () => (await orbit.kubectl("get pv --no-headers")).stdout === "",
    { what: "the volume to go" },
  );
});

test("an ephemeral volume lives as long as its pod, over a kill of the daemon", async () => {
  const template =
    "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}}";
  await apply(pod("scratch", "echo x > /v/x; exec sleep 3600", template));
  await phase("pod/scratch", "Running");
  expect(localPath()).toHaveLength(1);
  await orbit.stop("SIGKILL");
  orbit = await orbit.restart();
  expect(await field("pod/scratch", "{.status.phase}")).toBe("Running");
  await orbit.kubectl("delete pod scratch");
  await gone(() => localPath().length === 0, "the directory to go");
});

test("a CSI driver's volume in a pod, ended by the agent after the one that mounted it", async () => {
  const driver = new CsiHostPathDriver({
    name: "hostpath.example.com",
    directory: path.join(orbit.directory, "driver"),
    registry: path.join(agentRoot(), "plugins_registry"),
  });
  await driver.start();
  try {
    await apply(`
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: hostpath.example.com}
spec: {attachRequired: false}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: csi-volume}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Mi}
  storageClassName: ""
  csi: {driver: hostpath.example.com, volumeHandle: one}
---${claim("csi", ', storageClassName: "", volumeName: csi-volume')}---${pod(
      "csi",
      "echo csi > /v/file; exec sleep 3600",
      "persistentVolumeClaim: {claimName: csi}",
    )}`);
    await phase("pod/csi", "Running");
    await eventually(
      () => fs.existsSync(path.join(driver.contentOf("one"), "file")),
      { timeoutMs: 30_000, what: "what the pod writes" },
    );
    await orbit.stop("SIGKILL");
    orbit = await orbit.restart();
    await orbit.kubectl("delete pod csi");
    await gone(
      () => driver.calls.at(-1) === "unstage one",
      "the volume to be unstaged",
    );
    expect(driver.calls.filter((call) => call === "unpublish one")).toEqual([
      "unpublish one",
    ]);
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(
      `${orbit.directory}/driver`,
    );
  } finally {
    driver.stop();
  }
});

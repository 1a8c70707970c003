// A whole node as users run it: bin/orbit server, containerd or Docker, stock kubectl. From a manifest file to a running container,
// a Deployment of three, and a daemon killed and started again without touching its pods.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { runtimeKinds } from "../support/private-runtime.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";

describe.each(runtimeKinds)("%s", (runtime) => {
  let orbit: RunningOrbit;

  beforeAll(async () => {
    const tar = await busyboxImageTar();
    orbit = await startOrbit({ runtime });
    const loaded = await orbit.orbit([
      "image",
      "load",
      `--data-dir=${orbit.directory}/data`,
      tar,
    ]);
    expect(loaded).toMatchObject({
      code: 0,
      stdout: "loaded docker.io/library/busybox:latest\n",
    });
  });

  afterAll(async () => {
    await orbit?.clean();
  });

  const pod = (name: string, words: string) => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, "echo ${words}; exec sleep 3600"]}
`;

  async function podField(name: string, jsonpath: string): Promise<string> {
    return (
      await orbit.kubectl(["get", "pod", name, "-o", `jsonpath=${jsonpath}`])
    ).stdout;
  }

  const running = (name: string, what = name) =>
    eventually(
      async () => (await podField(name, "{.status.phase}")) === "Running",
      { timeoutMs: 60_000, intervalMs: 100, what: `${what} to run` },
    );

  test("the node is Ready and kubectl sees it", async () => {
    const { stdout, code } = await orbit.kubectl("get nodes --no-headers");
    expect(code).toBe(0);
    expect(stdout).toMatch(/\sReady\s/);
    expect((await orbit.kubectl("version")).stdout).toContain(
      "Server Version: v1.32",
    );
  });

  describe("a static pod", () => {
    const node = () =>
      fs.readFileSync("/etc/hostname", "utf8").trim().toLowerCase();

    test("runs from its file, shows its mirror, and logs", async () => {
      fs.writeFileSync(
        path.join(orbit.manifests, "web.yaml"),
        pod("web", "hello from a file"),
      );
      const name = `web-${node()}`;
      await running(name);
      await eventually(
        async () =>
          (await orbit.kubectl(["logs", name])).stdout ===
          "hello from a file\n",
        { what: "what it writes" },
      );
    });

    test("kubectl top shows what it and the node use, without an add-on", async () => {
      const name = `web-${node()}`;
      // A figure of processor time needs two looks.
      await eventually(async () => {
        const top = await orbit.kubectl(["top", "pod", name, "--no-headers"]);
        expect(top.stderr).toBe("");
        expect(top.stdout).toMatch(new RegExp(`^${name} +\\d+m +\\d+Mi`));
        return true;
      });
      await eventually(async () => {
        const { stdout } = await orbit.kubectl("top node --no-headers");
        expect(stdout).toMatch(/^\S+ +\d+m +\d+% +\d+Mi +\d+%/);
        return true;
      });
    });

    test("is replaced when the file changes and goes with it", async () => {
      const file = path.join(orbit.manifests, "web.yaml");
      const name = `web-${node()}`;
      fs.writeFileSync(file, pod("web", "changed"));
      await eventually(
        async () =>
          (await orbit.kubectl(["logs", name])).stdout === "changed\n",
        { timeoutMs: 60_000, intervalMs: 100, what: "the new pod" },
      );
      fs.rmSync(file);
      await eventually(
        async () => (await orbit.kubectl(["get", "pod", name])).code !== 0,
        { timeoutMs: 60_000, intervalMs: 100, what: "the pod to go" },
      );
    });

    test("a broken file is reported and keeps nothing else from running", async () => {
      fs.writeFileSync(
        path.join(orbit.manifests, "bad.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: [\n",
      );
      await eventually(() => /bad\.yaml/.test(orbit.log()), {
        what: "a log line naming the file",
      });
      fs.rmSync(path.join(orbit.manifests, "bad.yaml"));
    });
  });

  test("another kind in the directory is applied, and pruned with its file", async () => {
    const file = path.join(orbit.manifests, "settings.yaml");
    fs.writeFileSync(
      file,
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n",
    );
    await eventually(
      async () =>
        (
          await orbit.kubectl([
            "get",
            "configmap",
            "settings",
            "-o",
            "jsonpath={.data.a}",
          ])
        ).stdout === "b",
      { what: "the ConfigMap", intervalMs: 100 },
    );
    fs.rmSync(file);
    await eventually(
      async () => (await orbit.kubectl("get configmap settings")).code !== 0,
      { what: "the ConfigMap to go", intervalMs: 100 },
    );
  });

  describe("a Deployment", () => {
    const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: three}
spec:
  replicas: 3
  selector: {matchLabels: {app: three}}
  template:
    metadata: {labels: {app: three}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, image: busybox, imagePullPolicy: IfNotPresent, command: [sleep, "3600"]}
`;

    test("keeps three pods alive", async () => {
      expect(
        await orbit.kubectl("apply -f -", { stdin: deployment }),
      ).toMatchObject({ code: 0 });
      expect(
        await orbit.kubectl("rollout status deployment/three --timeout=85s"),
      ).toMatchObject({ code: 0 });
      const [first] = (
        await orbit.kubectl("get pods -l app=three -o name")
      ).stdout.split("\n");
      expect((await orbit.kubectl(["delete", first!])).code).toBe(0);
      await eventually(
        async () =>
          (
            await orbit.kubectl([
              "get",
              "deployment",
              "three",
              "-o",
              "jsonpath={.status.readyReplicas}",
            ])
          ).stdout === "3",
        {
          timeoutMs: 60_000,
          intervalMs: 100,
          what: "three ready replicas",
        },
      );
    });

    test("kubectl exec runs a command in one of them", async () => {
      const done = await orbit.kubectl([
        "exec",
        "deploy/three",
        "--",
        "sh",
        "-c",
        "echo out; exit 3",
      ]);
      expect(done.stdout).toBe("out\n");
      expect(done.stderr).toContain("exit code 3");
    });

    test("survives kill -9 of the daemon: its containers are adopted, not restarted", async () => {
      const identities = async () =>
        (
          await orbit.kubectl([
            "get",
            "pods",
            "-l",
            "app=three",
            "-o",
            'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}{"\\n"}{end}',
          ])
        ).stdout
          .split("\n")
          .filter(Boolean)
          .sort();
      // The one that replaced the deleted pod too.
      const before = await eventually(async () => {
        const all = await identities();
        expect(all).toEqual(
          Array(3).fill(expect.stringMatching(/^\S+ \w+:\/\/\w+ 0$/)),
        );
        return all;
      });
      expect(await orbit.stop("SIGKILL")).toBeNull();
      orbit = await orbit.restart();
      expect(await identities()).toEqual(before);
      expect(
        (await orbit.kubectl("delete deployment three --timeout=60s")).code,
      ).toBe(0);
      await eventually(
        async () =>
          (await orbit.kubectl("get pods -l app=three -o name")).stdout === "",
        { timeoutMs: 60_000, intervalMs: 100, what: "the pods to go" },
      );
    });
  });

  test("SIGTERM ends the daemon cleanly with 0", async () => {
    expect(await orbit.stop("SIGTERM")).toBe(0);
  });
});

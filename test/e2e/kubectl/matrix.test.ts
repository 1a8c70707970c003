// Stock kubectl against one running server: every verb, its output and exit code, as users and scripts know them.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { busyboxImageTar } from "../../support/busybox-image.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import {
  runCommand,
  type CommandResult,
  type KubectlOptions,
} from "../../support/kubectl.ts";
import { startOrbit, type RunningOrbit } from "../../support/start-orbit.ts";

let orbit: RunningOrbit;
let directory: string;

const image = "image: busybox, imagePullPolicy: IfNotPresent";
const pod = (name: string, command: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}, tier: x}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, ${image}, command: [sh, -c, "${command}"]}
`;
const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, labels: {app: d}}
spec:
  replicas: 2
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: main, ${image}, command: [sleep, "3600"]}
`;

const kubectl = (
  args: string | readonly string[],
  options: Omit<KubectlOptions, "timeoutMs"> = {},
): Promise<CommandResult> =>
  orbit.kubectl(args, { timeoutMs: 120_000, ...options });

/** stdout of a command that has to succeed. */
async function good(
  args: string | readonly string[],
  options: { stdin?: string; env?: Record<string, string> } = {},
): Promise<string> {
  const done = await kubectl(args, options);
  if (done.code !== 0)
    throw new Error(
      `kubectl ${String(args)}: exit ${done.code}\n${done.stdout}${done.stderr}`,
    );
  return done.stdout;
}

/** A kubectl that goes on until end() is called. */
function running(
  args: readonly string[],
  env: Record<string, string> = {},
): { text(): string; end(): Promise<void> } {
  const child = spawn("kubectl", args, {
    env: { ...process.env, KUBECONFIG: orbit.kubeconfig, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = new Promise<void>((resolve) => child.once("close", resolve));
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return {
    text: () => text,
    async end() {
      child.kill();
      await closed;
    },
  };
}

const file = (name: string, text: string): string => {
  const full = path.join(directory, name);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  fs.writeFileSync(full, text, { mode: 0o755 });
  return full;
};

/**
 * A shell with a terminal, as somebody uses it: Enter until the prompt is there, which it may have shown before anybody
 * listened, a sum when it is, and the end when the sum is there.
 */
async function onTerminal(
  command: string,
  exitCode: number,
  env: Record<string, string> = {},
): Promise<{ stdout: string; code: number | null }> {
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    env: { ...process.env, KUBECONFIG: orbit.kubeconfig, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = new Promise<number | null>((resolve) =>
    child.once("close", resolve),
  );
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stdin.on("error", () => undefined);
  const shows = (text: string, what: string): Promise<boolean> =>
    eventually(() => stdout.includes(text), { timeoutMs: 100_000, what }).catch(
      (error: Error) => {
        throw new Error(`${error.message}\n${stdout}`);
      },
    );
  const enter = setInterval(() => child.stdin.write("\n"), 1000);
  try {
    await shows("/ # ", "a prompt").finally(() => clearInterval(enter));
    child.stdin.write("echo sum-$((1+1))\n");
    await shows("sum-2", "the sum");
    child.stdin.write(`exit ${exitCode}\n`);
    return { code: await closed, stdout };
  } finally {
    child.kill("SIGKILL");
  }
}

beforeAll(async () => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), "orbit-kubectl-"));
  orbit = await startOrbit();
  const loaded = await orbit.orbit([
    "image",
    "load",
    `--data-dir=${orbit.directory}/data`,
    await busyboxImageTar(),
  ]);
  expect(loaded.code).toBe(0);
  const objects = `${pod("p", "echo one; echo two; mkdir /www; echo hi > /www/index.html; exec httpd -f -p 80 -h /www")}---${deployment}`;
  await good("apply -f -", { stdin: objects });
  await good("wait --for=condition=Ready pod/p --timeout=60s");
  await good("rollout status deploy/d --timeout=60s");
  // What comes a moment after a pod is ready: its output, its events, figures of its use.
  await eventually(async () => (await good("logs p")) === "one\ntwo\n");
  await eventually(async () =>
    /Scheduled[^]*Started|Started[^]*Scheduled/.test(
      await good("get events --field-selector involvedObject.name=p"),
    ),
  );
  await eventually(async () => (await good("top pod p")) && good("top node"));
});

afterAll(async () => {
  await orbit?.clean();
  fs.rmSync(directory, { recursive: true, force: true });
});

test.each<[string | string[], RegExp]>([
  ["version", /Server Version: v1\.32/],
  ["cluster-info", /control plane.* is running at/],
  ["api-versions", /^apps\/v1$/m],
  [
    "api-resources --api-group=apps",
    /^deployments +deploy +apps\/v1 +true +Deployment$/m,
  ],
  ["explain pod.spec.containers.livenessProbe", /httpGet\t<HTTPGetAction>/],
  ["explain deploy --recursive", /^ {4}annotations\t<map\[string\]string>$/m],
  ["get pod p", /^NAME +READY +STATUS +RESTARTS +AGE\np +1\/1 +Running +0 /],
  [
    "get pod p -o wide",
    /NOMINATED NODE +READINESS GATES\n.* 10\.\d+\.\d+\.\d+ /,
  ],
  ["get pods -A", /^NAMESPACE +NAME .*\ndefault +/],
  [
    "top pod p --containers",
    /^POD +NAME +CPU\(cores\) .*\np +\w+ +\d+m +\d+Mi/,
  ],
  ["top node", /^NAME +CPU\(cores\) +CPU\(%\) /],
  ["get pod p -o name", /^pod\/p\n$/],
  ["get pod p -o yaml", /^ {2}phase: Running$/m],
  ["get pod p -o json", /"qosClass": "BestEffort"/],
  ["get pod p -o jsonpath={.status.phase}", /^Running$/],
  ["get pod p -o go-template={{.metadata.name}}", /^p$/],
  [
    "get pod p -o custom-columns=N:.metadata.name,I:.spec.containers[*].image",
    /^N +I\np +busybox\n$/,
  ],
  ["get pods --sort-by=.metadata.name", /\nd-.*\nd-.*\np /],
  ["get pod p --show-labels", / app=p,tier=x\n$/],
  ["get pod p -L tier", /TIER\n.* x\n$/],
  ["get pods --field-selector status.phase=Running,metadata.name=p", /\np /],
  ["get pods -l app=p,tier!=y -o name", /^pod\/p\n$/],
  ["get all", /pod\/p .*[^]*service\/kubernetes[^]*deployment\.apps\/d/],
  ["get --raw /readyz", /^ok$/],
  [
    "describe pod p",
    /(Successfully assigned default\/p to [^]*Started container|Started container[^]*Successfully assigned default\/p to )/,
  ],
  ["describe node", /Container Runtime Version: +(containerd|docker):/],
  ["describe deployment d", /NewReplicaSet: +d-\w+ \(2\/2 replicas created\)/],
  ["describe service kubernetes", /TargetPort: +\d+\/TCP/],
  ["describe namespace default", /Status: +Active/],
  ["logs p", /^one\ntwo\n$/],
  ["logs p --tail=1", /^two\n$/],
  ["logs p --since=1h --timestamps", /^\d{4}-.*Z one\n/],
  ["logs p --limit-bytes=3", /^one$/],
  ["logs -l app=p --prefix", /^\[pod\/p\/main\] one/],
  ["auth can-i create pods", /^yes\n$/],
  ["auth can-i --list", /\*\.\* +\[\] +\[\] +\[\*\]/],
  ["auth whoami", /system:masters/],
  ["events --for pod/p", /Started container main/],
  ["get events --field-selector involvedObject.name=p", /Scheduled/],
  ["rollout history deploy/d", /REVISION +CHANGE-CAUSE\n1 /],
  ["create token default", /^[\w-]+\.[\w-]+\.[\w-]+\n?$/],
  ["cluster-info dump", /"kind": "NodeList"/],
])("kubectl %s", async (args, text) => {
  expect(await good(args)).toMatch(text);
});

test.each<[string, number, RegExp]>([
  ["get pod nope", 1, /^Error from server \(NotFound\): pods "nope" not found/],
  ["get foo", 1, /the server doesn't have a resource type "foo"/],
  ["get pods --field-selector foo=bar", 1, /field label not supported: foo/],
  ["logs nope", 1, /pods "nope" not found/],
  ["logs p -p", 1, /previous terminated container "main" in pod "p" not found/],
  [
    "logs p --all-containers -c main",
    1,
    /should not be specified with container name/,
  ],
  ["logs p -c nope", 1, /container nope is not valid for pod p/],
  ["exec p -- sh -c exit\t7", 7, /command terminated with exit code 7/],
  [
    "exec p -- nope",
    1,
    /^error: Internal error occurred: (Internal error occurred: )?error executing command in container: (failed to exec|OCI runtime exec failed).*executable file (`nope` )?not found/,
  ],
  ["exec p -c nope -- ls", 1, /container nope is not valid for pod p/],
  [
    "label pod p tier=z",
    1,
    /already has a value \(x\), and --overwrite is false/,
  ],
  ["create deployment d --image=x", 1, /deployments.apps "d" already exists/],
  ["auth can-i create pods --as=bob", 1, /^$/],
  ["top pods none", 1, /pods.metrics.k8s.io "none" not found/],
  ["explain pods.spec.nope", 1, /field "nope" does not exist/],
  ["wait --for=delete pod/p --timeout=1s", 1, /timed out waiting/],
])("kubectl %s ends with %i", async (args, code, text) => {
  const done = await kubectl(
    args.split(" ").map((each) => each.replace("\t", " ")),
  );
  expect(done.stderr).toMatch(text);
  expect(done.code).toBe(code);
});

test("objects are created by every generator and described", async () => {
  for (const args of [
    "create configmap cm --from-literal=a=b",
    "create secret generic s --from-literal=k=v",
    "create secret docker-registry r --docker-server=x --docker-username=u --docker-password=p",
    "create role r --verb=get --resource=pods",
    "create rolebinding r --role=r --serviceaccount=default:default",
    "create clusterrole r --verb=get --non-resource-url=/x",
    "create clusterrolebinding r --clusterrole=r --user=bob",
    "create serviceaccount sa",
    "create namespace other",
    "create quota q --hard=pods=100",
    "create priorityclass pc --value=5",
    "create ingress i --rule=a.b/=d:80",
    "create service nodeport np --tcp=80:80",
    "create pdb pdb --selector=app=none --min-available=1",
    "create cronjob cj --image=busybox --schedule=0\t0\t1\t1\t* -- date",
    "create job j --image=busybox -- true",
    "autoscale deploy/d --min=1 --max=3",
    "expose deploy/d --port=80",
  ])
    await good(args.split(" ").map((each) => each.replaceAll("\t", " ")));
  expect(
    await good(
      "get cm,secret,role,rolebinding,sa,quota,ing,svc,pdb,cronjob,job,hpa -o name",
    ),
  ).toMatch(/configmap\/cm[^]*horizontalpodautoscaler.autoscaling\/d/);
  expect(await good("describe cm cm")).toMatch(/a:\n----\nb/);
  expect(await good("describe secret s")).toMatch(/k: +1 bytes/);
  expect(await good("delete job,cronjob,hpa,quota,pdb --all")).toMatch(
    /"j" deleted/,
  );
});

test("label, annotate, patch in three ways, edit, apply, diff and replace", async () => {
  await good("label pod p extra=1");
  await good("annotate pod p note=1");
  await good(["patch", "pod", "p", "-p", '{"metadata":{"labels":{"s":"1"}}}']);
  await good([
    "patch",
    "pod",
    "p",
    "--type=merge",
    "-p",
    '{"metadata":{"labels":{"m":"1"}}}',
  ]);
  await good([
    "patch",
    "pod",
    "p",
    "--type=json",
    "-p",
    '[{"op":"remove","path":"/metadata/labels/extra"}]',
  ]);
  const editor = file(
    "editor",
    "#!/bin/sh\nsed -i 's/tier: x/tier: edited/' \"$1\"\n",
  );
  expect(await good("edit pod p", { env: { KUBE_EDITOR: editor } })).toContain(
    "pod/p edited",
  );
  expect(
    JSON.parse(await good("get pod p -o jsonpath={.metadata.labels}")),
  ).toEqual({ app: "p", s: "1", m: "1", tier: "edited" });
  const manifest = file(
    "app/a.yaml",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a1, labels: {set: s}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a2, labels: {set: s}}\n",
  );
  await good(`apply -f ${manifest}`);
  fs.writeFileSync(
    manifest,
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a1, labels: {set: s}}\ndata: {k: v}\n",
  );
  const differs = await kubectl(`diff -f ${manifest}`);
  expect([differs.code, differs.stdout]).toEqual([
    1,
    expect.stringContaining("+  k: v"),
  ]);
  expect(
    await good(
      `apply -f ${path.dirname(manifest)} --prune -l set=s --prune-allowlist=core/v1/ConfigMap`,
    ),
  ).toBe("configmap/a1 configured\nconfigmap/a2 pruned\n");
  expect((await kubectl(`diff -f ${manifest}`)).code).toBe(0);
  await good(`apply --server-side --force-conflicts -f ${manifest}`);
  await good(`replace -f ${manifest}`);
  await good(`replace --force -f ${manifest}`);
  file(
    "kus/kustomization.yaml",
    "resources: [a.yaml]\nnamePrefix: k-\nconfigMapGenerator:\n- name: gen\n  literals: [x=y]\n",
  );
  file("kus/a.yaml", fs.readFileSync(manifest, "utf8"));
  expect(await good(`apply -k ${directory}/kus`)).toMatch(
    /configmap\/k-gen-\w+ created/,
  );
  await good(`delete -k ${directory}/kus`);
  await good(`delete -f ${manifest}`);
});

test("a rollout: set, status, history, undo, pause, resume, restart, scale", async () => {
  const settled = () => good("rollout status deploy/d --timeout=60s");
  await good("set env deploy/d A=b");
  await settled();
  await good("rollout undo deploy/d");
  await settled();
  expect(await good("rollout history deploy/d")).toMatch(/\n2 .*\n3 /);
  await good("rollout pause deploy/d");
  await good("set resources deploy/d --limits=memory=64Mi");
  await good("set image deploy/d main=docker.io/library/busybox:latest");
  await good("rollout resume deploy/d");
  await good("rollout restart deploy/d");
  await settled();
  await good("scale deploy/d --replicas=1 --current-replicas=2");
  await good(
    "wait --for=jsonpath={.status.readyReplicas}=1 deploy/d --timeout=60s",
  );
});

describe.each([["websockets"], ["spdy"]])("streams over %s", (kind) => {
  const env: Record<string, string> =
    kind === "spdy"
      ? {
          KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false",
          KUBECTL_PORT_FORWARD_WEBSOCKETS: "false",
        }
      : {};

  test("exec with input, exit code and terminal", async () => {
    expect(
      await kubectl(["exec", "-i", "p", "--", "sh", "-c", "cat; exit 3"], {
        stdin: "in\n",
        env,
      }),
    ).toMatchObject({ stdout: "in\n", code: 3 });
    const typed = await onTerminal("kubectl exec -it p -- sh", 4, env);
    expect(typed.stdout).toContain("sum-2");
    expect(typed.code).toBe(4);
  });

  test("cp both ways", async () => {
    const blob = path.join(directory, `blob-${kind}`);
    fs.writeFileSync(blob, Buffer.alloc(1_500_000, kind));
    await good(`cp ${blob} p:/tmp/blob-${kind}`, { env });
    await good(`cp p:/tmp/blob-${kind} ${blob}.back`, { env });
    expect(fs.readFileSync(`${blob}.back`).equals(fs.readFileSync(blob))).toBe(
      true,
    );
  });

  test("port-forward", async () => {
    const port = await freePort();
    const forwarding = running(["port-forward", "pod/p", `${port}:80`], env);
    try {
      await eventually(
        async () =>
          (await runCommand("curl", ["-s", `http://127.0.0.1:${port}/`]))
            .stdout === "hi\n",
        { intervalMs: 100, what: "an answer" },
      );
    } finally {
      await forwarding.end();
    }
  });
});

test("attach, run --rm and its exit code", async () => {
  expect(
    await kubectl(
      [
        "run",
        "once",
        "--rm",
        "-i",
        "--image=busybox",
        "--image-pull-policy=IfNotPresent",
        "--restart=Never",
        "--",
        "sh",
        "-c",
        // Words that show that somebody listens, before what is written is copied back.
        "while :; do echo up; sleep 0.2; done & cat; kill $!; sleep 1; exit 5",
      ],
      { stdin: "typed\n", stdinAfter: /^up$/m },
    ),
  ).toMatchObject({ code: 5, stdout: expect.stringContaining("typed") });
  const typed = await onTerminal(
    "kubectl run shell --rm -it --image=busybox --image-pull-policy=IfNotPresent --restart=Never -- sh",
    6,
  );
  expect(typed.stdout).toContain("sum-2");
  expect(typed.code).toBe(6);
});

test("debug adds a container that runs in the pod", async () => {
  const typed = await onTerminal(
    "kubectl debug p --profile=general -it --image=busybox --image-pull-policy=IfNotPresent --target=main -c dbg -- sh",
    0,
  );
  expect(typed.stdout).toContain("sum-2");
  await good([
    "wait",
    "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.reason}=Completed",
    "pod/p",
    "--timeout=60s",
  ]);
});

test("watching tells of changes as they come", async () => {
  const watch = running("get cm -w -o name".split(" "));
  try {
    await eventually(() => watch.text().includes("kube-root-ca.crt\n"), {
      what: "those that there are",
    });
    await good("create configmap seen --from-literal=a=b");
    await eventually(() => watch.text().includes("configmap/seen\n"), {
      what: "the new one",
    });
  } finally {
    await watch.end();
  }
});

test("cordon, taint, drain and uncordon", async () => {
  const [node] = (await good("get nodes -o name")).trim().split("\n");
  const name = node!.slice("node/".length);
  await good(`taint node ${name} k=v:NoSchedule`);
  await good(`taint node ${name} k-`);
  await good("apply -f -", {
    stdin: pod("wontpull", "true")
      .replace("image: busybox", "image: absent.invalid/x")
      .replace("IfNotPresent", "Always"),
  });
  const drained = await kubectl(
    `drain ${name} --ignore-daemonsets --force --delete-emptydir-data --timeout=60s`,
  );
  expect(drained.stderr).not.toContain("error");
  expect(drained.code).toBe(0);
  expect(await good("get nodes")).toContain("Ready,SchedulingDisabled");
  expect(
    await good("get pods -o name --field-selector status.phase=Running"),
  ).toBe("");
  await good(`uncordon ${name}`);
  await good("rollout status deploy/d --timeout=60s");
});

test("deletes that orphan and that wait for dependents", async () => {
  await good("delete deploy d --cascade=orphan");
  expect(await good("get rs -l app=d -o name")).toMatch(/replicaset.apps\/d-/);
  await good("delete rs -l app=d --cascade=foreground");
  expect(await good("get pods -l app=d -o name")).toBe("");
  expect(await good("delete deploy d --ignore-not-found")).toBe("");
  await good("delete namespace other --timeout=60s");
});

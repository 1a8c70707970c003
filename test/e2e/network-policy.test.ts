// Network policies of a whole node: pods made by kubectl, requests between them, probes of the node agent.
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";

let orbit: RunningOrbit;

beforeAll(async () => {
  const tar = await busyboxImageTar();
  orbit = await startOrbit({ network: true });
  expect(
    await orbit.orbit([
      "image",
      "load",
      `--data-dir=${orbit.directory}/data`,
      tar,
    ]),
  ).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await orbit?.clean();
});

const server =
  "mkdir /www; echo hello > /www/index.html; exec httpd -f -p 80 -h /www";

function pod(name: string, script: string, more = ""): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {app: ${name}}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, ${JSON.stringify(script)}]
${more}`;
}

const readiness = `    readinessProbe: {httpGet: {port: 80, path: /}, periodSeconds: 1}
`;

function policy(name: string, spec: string): string {
  return `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: ${name}}
spec: ${spec}
`;
}

async function apply(...texts: string[]): Promise<void> {
  expect(
    await orbit.kubectl("apply -f -", { stdin: texts.join("---\n") }),
  ).toMatchObject({ code: 0 });
}

async function ready(...names: string[]): Promise<void> {
  expect(
    await orbit.kubectl(
      ["wait", "--for=condition=Ready", "--timeout=60s", "pod", ...names],
      { timeoutMs: 90_000 },
    ),
  ).toMatchObject({ code: 0 });
}

async function reaches(from: string, host: string): Promise<boolean> {
  const { stdout } = await orbit.kubectl(
    // The wget of Debian's busybox crashes when it is given a time limit.
    `exec ${from} -- timeout 1 wget -q -O - http://${host}`,
    { timeoutMs: 60_000 },
  );
  return stdout === "hello\n";
}

test("pods, a Service and probes under policies", async () => {
  await apply(
    policy("closed", "{podSelector: {}, policyTypes: [Ingress]}"),
    pod("web", server, readiness),
    pod("friend", "exec sleep 3600"),
    pod("other", "exec sleep 3600"),
  );
  // The node agent's probe reaches the pod that nothing else reaches.
  await ready("web", "friend", "other");
  await orbit.kubectl("expose pod web --port 80");
  const { stdout: address } = await orbit.kubectl(
    "get service web -o jsonpath={.spec.clusterIP}",
  );
  expect(await reaches("friend", address)).toBe(false);
  await apply(
    policy(
      "friends",
      "{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {app: friend}}}], ports: [{port: 80}]}]}",
    ),
  );
  await eventually(() => reaches("friend", address));
  expect(await reaches("other", address)).toBe(false);
  await orbit.kubectl("label pod other app=friend --overwrite");
  await eventually(() => reaches("other", address));
  await orbit.kubectl("delete networkpolicy --all");
  await orbit.kubectl("label pod other app=other --overwrite");
  await eventually(() => reaches("other", address));
});

test("a pod is isolated from its first packet on", async () => {
  const { stdout: address } = await orbit.kubectl(
    "get pod web -o jsonpath={.status.podIP}",
  );
  await apply(
    policy(
      "quiet",
      "{podSelector: {matchLabels: {app: early}}, policyTypes: [Egress]}",
    ),
    pod(
      "early",
      `timeout 1 wget -q -O - http://${address} || echo isolated; exec sleep 3600`,
    ),
  );
  await ready("early");
  // What wget has to say of it comes first.
  await eventually(async () =>
    (await orbit.kubectl("logs early")).stdout.split("\n").includes("isolated"),
  );
});

// An Ingress as users make one: bin/orbit server, stock kubectl, a pod behind a Service, and requests to the node's port.
import * as http from "node:http";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-port.ts";
import { request } from "../support/ingress-proxy.ts";
import { startOrbit, type RunningOrbit } from "../support/start-orbit.ts";

let orbit: RunningOrbit;
let ports: { http: number; https: number };

beforeAll(async () => {
  const [plain, secure] = (await freePorts(2)) as [number, number];
  ports = { http: plain, https: secure };
  const tar = await busyboxImageTar();
  orbit = await startOrbit({ ingress: ports });
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

const pod = `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: busybox
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "mkdir /www; echo from a pod >/www/index.html; exec httpd -f -p 8080 -h /www"]
    readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
`;

const reply = () =>
  request(ports.http, { headers: { host: "web.example.com" } });

test("no port is open before there is an Ingress", async () => {
  await expect(reply()).rejects.toThrow(/ECONNREFUSED/);
});

test("a pod answers at the port of the node", async () => {
  await orbit.kubectl(["apply", "-f", "-"], { stdin: pod });
  await orbit.kubectl("expose pod web --port 80 --target-port 8080");
  const made = await orbit.kubectl([
    "create",
    "ingress",
    "web",
    "--rule=web.example.com/*=web:80",
  ]);
  expect(made.code).toBe(0);
  await eventually(async () => (await reply()).text === "from a pod\n", {
    timeoutMs: 60_000,
    intervalMs: 100,
  });
  const secure = await request(ports.https, {
    tls: true,
    headers: { host: "web.example.com" },
  });
  expect(secure.text).toBe("from a pod\n");
  await eventually(async () =>
    /^web\s+orbit\s+web\.example\.com\s+\d+\./.test(
      (await orbit.kubectl("get ingress web --no-headers")).stdout,
    ),
  );
});

test("a pod that is gone is no endpoint, and figures say what happened", async () => {
  await orbit.kubectl("delete pod web --wait=true");
  await eventually(async () => (await reply()).status === 503, {
    timeoutMs: 30_000,
  });
  const { stdout } = await orbit.kubectl("get --raw /metrics");
  expect(stdout).toMatch(
    /orbit_ingress_requests_total\{kind="Ingress",name="web",namespace="default",status="200"\} \d/,
  );
});

test("connections under way end when the server stops", async () => {
  const agent = new http.Agent({ keepAlive: true });
  await request(ports.http, { agent, headers: { host: "web.example.com" } });
  expect(await orbit.stop()).toBe(0);
  agent.destroy();
});

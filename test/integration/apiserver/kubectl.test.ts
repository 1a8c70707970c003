// kubectl against the server over TLS (HTTP/2): the commands people use first.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
} from "../../../api/pki/certificate.ts";
import {
  createApiServer,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { createKubectl, type Kubectl } from "../../support/kubectl.ts";

let directory: string;
let server: ApiServer;
let kubectl: Kubectl;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "orbit-kubectl-"));
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "test" },
    nowMs,
  });
  const serving = issueCertificate(authority, {
    subject: { commonName: "server" },
    usages: ["server auth"],
    ipAddresses: ["127.0.0.1"],
    validityMs: 3_600_000,
    nowMs,
  });
  server = createApiServer({
    store: createMemoryStore(),
    logger: pino({ level: "silent" }),
    tls: { cert: serving.certificate, key: serving.key },
  });
  await server.start();
  const file = join(directory, "config");
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name: "c",
          cluster: {
            server: `https://127.0.0.1:${server.port}`,
            "certificate-authority-data": Buffer.from(
              authority.certificate,
            ).toString("base64"),
          },
        },
      ],
      users: [{ name: "u", user: { token: "any" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    }),
  );
  const bound = createKubectl(file);
  kubectl = (args, options = {}) =>
    bound(args, { ...options, env: { HOME: directory, ...options.env } });
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, labels: { app: web } }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: nginx }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { a: b }
`;

const commands: readonly [string, RegExp, string?][] = [
  ["version", /Server Version: v1\.32/],
  ["api-resources", /deployments +deploy +apps\/v1 +true +Deployment/],
  ["get namespaces", /default +Active/],
  [
    "apply -f -",
    /deployment.apps\/web created\nconfigmap\/settings created/,
    manifest,
  ],
  [
    "apply -f -",
    /deployment.apps\/web unchanged\nconfigmap\/settings unchanged/,
    manifest,
  ],
  [
    "apply --server-side --force-conflicts -f -",
    /serverside-applied/,
    manifest,
  ],
  ["get deployments", /NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2/],
  ["scale deployment web --replicas=3", /scaled/],
  ["get deployment web -o jsonpath={.spec.replicas}", /^3$/],
  ["label configmap settings x=y", /labeled/],
  ["get configmaps -l x=y -o name", /^configmap\/settings$/m],
  ["annotate configmap settings note=1", /annotated/],
  [
    'patch configmap settings --type=json -p=[{"op":"add","path":"/data/c","value":"d"}]',
    /patched/,
  ],
  ["get configmap settings -o yaml", /c: d/],
  ["explain deployment.spec.replicas", /FIELD: replicas <integer>/],
  ["describe configmap settings", /Name: +settings/],
  ["create serviceaccount robot", /serviceaccount\/robot created/],
  ["delete deployment/web configmap/settings --wait=false", /"web" deleted/],
  ["get all -A", /No resources found|NAMESPACE/],
];

test.each(
  commands.map(([command, wanted, stdin]) => ({ command, wanted, stdin })),
)("kubectl $command", async ({ command, wanted, stdin }) => {
  const result = await kubectl(command, stdin === undefined ? {} : { stdin });
  expect(result.stdout + result.stderr).toMatch(wanted);
  expect(result.code).toBe(0);
});

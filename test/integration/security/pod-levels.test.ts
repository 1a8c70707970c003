// A namespace that enforces the restricted level refuses, by every way in which a pod comes to be, what the level forbids.
import { startTester, type Json, type Tester } from "../conformance/support.ts";

const ns = "/api/v1/namespaces/strict";
const apply = { "content-type": "application/apply-patch+yaml" };
const hardened: Json = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  runAsNonRoot: true,
  seccompProfile: { type: "RuntimeDefault" },
};
const pod = (context: Json = {}, spec: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: {
    containers: [
      { name: "c", image: "i", securityContext: { ...hardened, ...context } },
    ],
    ...spec,
  },
});

let tester: Tester;
beforeAll(async () => {
  tester = await startTester();
  await tester.namespace("strict");
  await tester.ok(
    "PATCH",
    "/api/v1/namespaces/strict",
    {
      metadata: {
        labels: { "pod-security.kubernetes.io/enforce": "restricted" },
      },
    },
    { "content-type": "application/merge-patch+json" },
  );
});
afterAll(() => tester.stop());

const broken: readonly [string, Json][] = [
  [
    "a privileged container",
    pod({ privileged: true, allowPrivilegeEscalation: true }),
  ],
  ["privilege escalation", pod({ allowPrivilegeEscalation: true })],
  [
    "an added capability",
    pod({ capabilities: { drop: ["ALL"], add: ["SYS_ADMIN"] } }),
  ],
  ["capabilities that stay", pod({ capabilities: {} })],
  ["root", pod({ runAsNonRoot: false })],
  ["user 0", pod({ runAsUser: 0 })],
  ["no seccomp profile", pod({ seccompProfile: { type: "Unconfined" } })],
  ["the host's network", pod({}, { hostNetwork: true })],
  ["the host's processes", pod({}, { hostPID: true })],
  ["the host's memory", pod({}, { hostIPC: true })],
  [
    "the host's files",
    pod({}, { volumes: [{ name: "v", hostPath: { path: "/" } }] }),
  ],
  [
    "a port of the host",
    pod(
      {},
      {
        containers: [
          {
            name: "c",
            image: "i",
            securityContext: hardened,
            ports: [{ containerPort: 80, hostPort: 80 }],
          },
        ],
      },
    ),
  ],
  [
    "an unsafe sysctl",
    pod(
      {},
      {
        securityContext: {
          sysctls: [{ name: "kernel.msgmax", value: "1" }],
        },
      },
    ),
  ],
  [
    "an init container",
    pod({}, { initContainers: [{ name: "x", image: "i" }] }),
  ],
];

it.each(broken)("refuses %s", async (_, body) => {
  const refused = [
    403,
    expect.stringMatching(/violates PodSecurity "restricted:latest"/),
  ];
  const posted = await tester.call("POST", `${ns}/pods`, body);
  expect([posted.status, posted.body.message]).toEqual(refused);
  const applied = await tester.call(
    "PATCH",
    `${ns}/pods/p?fieldManager=m`,
    body,
    apply,
  );
  expect([applied.status, applied.body.message]).toEqual(refused);
});

it("accepts a hardened pod, and no ephemeral container that is not", async () => {
  await tester.ok("POST", `${ns}/pods`, pod());
  const { status, body } = await tester.call(
    "PATCH",
    `${ns}/pods/p/ephemeralcontainers`,
    {
      spec: {
        ephemeralContainers: [
          { name: "d", image: "i", securityContext: { privileged: true } },
        ],
      },
    },
    { "content-type": "application/strategic-merge-patch+json" },
  );
  expect([status, body.message]).toEqual([
    403,
    expect.stringMatching(/violates PodSecurity/),
  ]);
});

it.each([
  ["enforce", "strict"],
  ["enforce-version", "1.32"],
  ["warn", "Baseline"],
  ["audit-version", "v1.x"],
])("refuses a namespace with %s=%s", async (mode, value) => {
  const { status } = await tester.call("POST", "/api/v1/namespaces", {
    metadata: {
      name: "bad",
      labels: { [`pod-security.kubernetes.io/${mode}`]: value },
    },
  });
  expect(status).toBe(422);
});

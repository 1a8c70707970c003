// What a container that is told to be harmless can still do, seen from inside one: users, groups, capabilities, seccomp,
// the root file system, kernel files, limits. Real containers.
import { text } from "node:stream/consumers";
import type { Pod } from "../../../api/types/core-v1.ts";
import { busyboxPod, startNode, type NodeFixture } from "./node-fixture.ts";
import type { Agent } from "../../../agent/agent.ts";
import { eventually } from "../../support/eventually.ts";

let node: NodeFixture;
let agent: Agent;
beforeAll(async () => {
  node = await startNode();
  agent = node.agent();
  await agent.start();
});
afterAll(() => node?.close());

/** What the script printed, in a container with these settings. */
async function said(
  name: string,
  script: string,
  change: (pod: Pod) => void = () => {},
): Promise<string> {
  const pod = busyboxPod(name, script, { restartPolicy: "Never" });
  change(pod);
  await node.writePod(`${name}.json`, pod);
  await eventually(
    () =>
      agent.pods().find(({ metadata }) => metadata.name.startsWith(name))
        ?.status?.containerStatuses?.[0]?.state?.terminated !== undefined,
    { timeoutMs: 60_000, what: `the end of ${name}` },
  );
  const found = agent
    .pods()
    .find(({ metadata }) => metadata.name.startsWith(name))!;
  const logs = await agent.logs(
    found.metadata.namespace ?? "default",
    found.metadata.name,
    {
      container: "main",
      follow: false,
      previous: false,
      timestamps: false,
    },
  );
  return text(logs);
}
const status = (field: string): string =>
  `grep ^${field}: /proc/self/status | tr -s '\\t' ' '`;

test("a hardened container", async () => {
  const output = await said(
    "hardened",
    [
      "id",
      ...["NoNewPrivs", "Seccomp", "CapEff", "CapBnd"].map(status),
      "touch /here 2>&1 || true",
      "ls -n /data | tail -1 | tr -s ' ' | cut -d' ' -f1,3,4",
      "stat -c %g /data",
    ].join("; "),
    (pod) => {
      pod.spec.securityContext = {
        runAsUser: 1000,
        runAsGroup: 3000,
        fsGroup: 2000,
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      };
      Object.assign(pod.spec.containers[0]!, {
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
        volumeMounts: [{ name: "data", mountPath: "/data" }],
      });
      pod.spec.volumes = [{ name: "data", emptyDir: {} }];
    },
  );
  expect(output).toMatch(/^uid=1000.* gid=3000.*groups=.*2000/m);
  expect(output).toMatch(/^NoNewPrivs: 1$/m);
  expect(output).toMatch(/^Seccomp: 2$/m);
  expect(output).toMatch(/^CapEff: 0+$/m);
  expect(output).toMatch(/^CapBnd: 0+$/m);
  expect(output).toMatch(/Read-only file system/);
  expect(output).toMatch(/^2000$/m);
});

test("capabilities: all dropped, one added", async () => {
  const output = await said("capable", status("CapEff"), (pod) => {
    pod.spec.containers[0]!.securityContext = {
      capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] },
    };
  });
  // Bit 10.
  expect(output).toMatch(/^CapEff: 0+400$/m);
});

test("a plain container can't reach the kernel's files", async () => {
  const output = await said(
    "plain",
    [
      "head -c 1 /proc/kcore 2>/dev/null | wc -c",
      "head -c 1 /proc/keys 2>/dev/null | wc -c",
      "ls /proc/acpi 2>/dev/null | wc -l",
      ...[
        "/proc/sys/kernel/panic",
        "/sys/here",
        "/sys/fs/cgroup/memory/here",
      ].map(
        (file) =>
          `(echo 1 > ${file}) 2>/dev/null && echo wrote ${file} || echo kept`,
      ),
    ]
      .map((command) => `(${command}) 2>&1`)
      .join("; "),
  );
  const lines = output.trim().split("\n");
  expect(lines.slice(0, 3)).toEqual(["0", "0", "0"]);
  expect(lines.slice(3)).toEqual(["kept", "kept", "kept"]);
});

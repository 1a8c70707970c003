// Pods in slices of a live systemd: the driver systemd with a private containerd, on a machine booted for the test. The
// host's hierarchies of version 1 are what such a guest has.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import {
  createSystemdMachine,
  type SystemdMachine,
} from "../support/systemd-machine/systemd-machine.ts";

let machine: SystemdMachine;

beforeAll(async () => {
  machine = await createSystemdMachine();
  fs.copyFileSync(
    await busyboxImageTar(),
    path.join(machine.var, "busybox.tar"),
  );
  await machine.boot();
});
afterAll(async () => {
  await machine?.clean();
});

const sh = (script: string): Promise<string> => machine.sh(script);

const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "sliced" },
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: "main",
        image: "busybox",
        imagePullPolicy: "IfNotPresent",
        command: ["sleep", "100003"],
        resources: { limits: { cpu: "300m", memory: "64Mi" } },
      },
    ],
  },
};

test("a pod lives in a slice with its limits, and the slice ends with it", async () => {
  // The image first: a pod that finds none waits for its next try, ten seconds and then twenty.
  await sh(`sh /opt/orbit/systemd/install.sh --no-start
    mkdir -p /etc/systemd/system/orbit.service.d
    command=$(sed -n 's/^ExecStart=//p' /etc/systemd/system/orbit.service)
    printf '[Service]\\nExecStart=\\nExecStart=%s --agent-arg=cgroup-driver=systemd\\n' "$command" >/etc/systemd/system/orbit.service.d/driver.conf
    systemctl daemon-reload
    systemctl start orbit
    orbit image load /var/busybox.tar
    mkdir -p /etc/orbit/manifests
    cat >/etc/orbit/manifests/sliced.json <<'EOF'
${JSON.stringify(pod)}
EOF
`);
  const slice = await eventually(
    async () =>
      (
        await machine.run(
          "systemctl list-units --type=slice --no-legend --plain 'orbit-pod*' | cut -d ' ' -f 1",
        )
      ).stdout.trim(),
    { timeoutMs: 60_000, intervalMs: 300, what: "the pod's slice" },
  );
  expect(slice).toMatch(/^orbit-pod[0-9a-f_]+\.slice$/);
  const pid = await eventually(
    async () => (await machine.run("pgrep -f '^sleep 10000[3]'")).stdout.trim(),
    { timeoutMs: 60_000, intervalMs: 300, what: "the container" },
  );
  // runc made the container's scope in the slice, through systemd as well.
  expect(await sh(`cat /proc/${pid}/cgroup`)).toMatch(
    new RegExp(`/orbit\\.slice/${slice}/cri-containerd-[0-9a-f]+\\.scope`),
  );
  const properties = await sh(
    `systemctl show -p MemoryLimit -p MemoryMax -p CPUQuotaPerSecUSec --value ${slice}`,
  );
  expect(properties).toContain(String(64 * 2 ** 20));
  expect(properties).toContain("300ms");
  // systemd takes nothing back when it reads its units again.
  await sh("systemctl daemon-reload");
  expect(
    await sh(
      `cd /sys/fs/cgroup; cat memory/orbit.slice/${slice}/memory.limit_in_bytes 2>/dev/null || cat orbit.slice/${slice}/memory.max`,
    ),
  ).toBe(String(64 * 2 ** 20));
  await sh("rm /etc/orbit/manifests/sliced.json");
  await eventually(
    async () =>
      (await sh(
        "systemctl list-units --type=slice --no-legend 'orbit-pod*'",
      )) === "" &&
      (await sh(
        "find /sys/fs/cgroup -name 'orbit-pod*.slice' 2>/dev/null || true",
      )) === "",
    { timeoutMs: 60_000, intervalMs: 300, what: "the slice to go" },
  );
});

test("when the machine halts the pod's hook runs, and systemd ends nothing by itself", async () => {
  const [main] = pod.spec.containers;
  const note = (word: string): string => `echo ${word} >>/out/log`;
  const halting = {
    ...pod,
    metadata: { name: "halting" },
    spec: {
      ...pod.spec,
      containers: [
        {
          ...main,
          command: [
            ...["/bin/sh", "-c"],
            `trap '${note("term")}; exit 0' TERM; ${note("up")}; while :; do sleep 0.1; done`,
          ],
          lifecycle: {
            preStop: { exec: { command: ["/bin/sh", "-c", note("preStop")] } },
          },
          volumeMounts: [{ name: "out", mountPath: "/out" }],
        },
      ],
      volumes: [{ name: "out", hostPath: { path: "/var/out" } }],
    },
  };
  await sh(`mkdir -p /var/out
    cat >/etc/orbit/manifests/halting.json <<'EOF'
${JSON.stringify(halting)}
EOF
`);
  const log = (): string =>
    fs.readFileSync(path.join(machine.var, "out/log"), "utf8");
  await eventually(() => log() === "up\n", {
    timeoutMs: 60_000,
    intervalMs: 100,
    what: "the pod to run",
  });
  await machine.halt();
  expect(log()).toBe("up\npreStop\nterm\n");
  await machine.boot();
});

test("uninstall.sh takes all slices away, also that of a pod without the runtime", async () => {
  // As a runtime that does not answer leaves them: a slice with a process, which ends with it.
  const pod = "orbit-burstable-pod1_2.slice";
  await sh(`mkdir -p /var/lib/orbit/agent/pods/1-2
    systemd-run --quiet --unit=left --slice=${pod} sleep 100004
    sh /usr/local/lib/orbit/systemd/uninstall.sh`);
  expect(
    await sh(`systemctl list-units --all --no-legend --plain 'orbit*'
      systemctl list-units --failed --no-legend
      find /sys/fs/cgroup -name 'orbit*' 2>/dev/null || true
      ls -d /run/systemd/transient/orbit* 2>/dev/null || true
      pgrep -f '^sleep 10000[4]' || true`),
  ).toBe("");
});

// shutdownGracePeriod on a machine with a live systemd and logind: `systemctl poweroff` waits until the pods have ended, the
// ordinary ones before the critical one, for longer than logind would wait by itself. With either driver of cgroups: scopes of
// systemd's own are units that a machine going down would end.
import * as fs from "node:fs";
import * as path from "node:path";
import { busyboxImageTar } from "../support/busybox-image.ts";
import { eventually } from "../support/eventually.ts";
import {
  createSystemdMachine,
  type SystemdMachine,
} from "../support/systemd-machine/systemd-machine.ts";

let machine: SystemdMachine;

afterEach(async () => {
  await machine?.clean();
});

const sh = (script: string): Promise<string> => machine.sh(script);

const inGuest = (file: string, text: string): void => {
  const place = path.join(machine.var, file);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  fs.writeFileSync(place, text);
};

/** Takes `seconds` to end, and writes down when. */
const pod = (name: string, priority: number, seconds: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      priority,
      hostNetwork: true,
      terminationGracePeriodSeconds: 60,
      containers: [
        {
          name: "main",
          image: "busybox",
          imagePullPolicy: "Never",
          command: [
            ...["/bin/sh", "-c"],
            `trap 'sleep ${seconds}; echo ${name} >>/out/log; exit 0' TERM; echo up >/out/${name}; while :; do sleep 0.1; done`,
          ],
          volumeMounts: [{ name: "out", mountPath: "/out" }],
        },
      ],
      volumes: [{ name: "out", hostPath: { path: "/var/out" } }],
    },
  });

/** For the machine's containerd, whose configuration has none of it. */
const systemdCgroups = `[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = true`;

test.each(["cgroupfs", "systemd"])(
  "the machine waits for its pods, critical ones last (driver %s)",
  async (driver) => {
    machine = await createSystemdMachine({ logind: true });
    await machine.boot();
    inGuest("out/.keep", "");
    fs.copyFileSync(
      await busyboxImageTar(),
      path.join(machine.var, "busybox.tar"),
    );
    inGuest("manifests/web.json", pod("web", 0, 3));
    inGuest("manifests/dns.json", pod("dns", 2_000_000_000, 3));
    inGuest(
      "agent.yaml",
      `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
shutdownGracePeriod: 40s
shutdownGracePeriodCriticalPods: 20s
staticPodPath: /var/manifests
cgroupDriver: ${driver}
failSwapOn: false
authentication: {webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
`,
    );
    if (driver === "systemd")
      await sh(
        `cat >>/etc/containerd/config.toml <<'EOF'\n${systemdCgroups}\nEOF`,
      );
    await sh(`systemctl start containerd
    ctr -n k8s.io images import /var/busybox.tar
    systemd-run --unit=orbit-agent --property=KillMode=process "$(command -v node)" /opt/orbit/bin/orbit agent \\
      --config=/var/agent.yaml --root-dir=/var/lib/orbitlet --address=127.0.0.1 --fail-cgroupv1=false`);
    await eventually(
      async () => {
        const { stdout } = await machine.run("ls /var/out");
        return stdout.includes("web") && stdout.includes("dns");
      },
      { timeoutMs: 60_000, what: "the pods to run" },
    ).catch(async () => {
      throw new Error(
        (await machine.run("journalctl -u orbit-agent --no-pager | tail -40"))
          .stdout,
      );
    });
    await eventually(
      async () =>
        (
          await machine.run("systemd-inhibit --list --no-legend")
        ).stdout.includes("orbit"),
      { what: "the lock to be held" },
    );
    const delay = await sh(
      "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager InhibitDelayMaxUSec",
    );
    expect(delay).toBe("t 40000000");
    expect(await sh("cat /var/lib/orbitlet/machine-files")).toContain(
      "/etc/systemd/logind.conf.d/99-orbit.conf",
    );
    const units = await sh(
      "systemctl list-units --type=scope --no-legend --plain 'cri-containerd-*' | wc -l",
    );
    // A sandbox and a container for each pod.
    expect(units).toBe(driver === "systemd" ? "4" : "0");
    await machine.powerOff();
    const log = fs.readFileSync(path.join(machine.var, "out/log"), "utf8");
    expect(log).toBe("web\ndns\n");
    const state = fs.readFileSync(
      path.join(machine.var, "lib/orbitlet/graceful_node_shutdown_state"),
      "utf8",
    );
    const { startTime, endTime } = JSON.parse(state) as Record<string, number>;
    expect(endTime! - startTime!).toBeGreaterThan(5500);
    expect(endTime! - startTime!).toBeLessThan(30_000);
  },
);

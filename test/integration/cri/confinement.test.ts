// What holds a container, seen from inside one: capabilities, users, filters of system calls, hidden files of the kernel,
// devices. The same on each runtime, so that none of them drops a protection without a word.
import * as fs from "node:fs";
import * as path from "node:path";
import type { ContainerConfig } from "../../../cri/runtime.ts";
import { eventually } from "../../support/eventually.ts";
import {
  runtimeKinds,
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

describe.each(runtimeKinds)("%s", (kind) => {
  let host: PrivateRuntime;
  beforeAll(async () => {
    host = await startPrivateRuntime({ kind });
  });
  afterAll(() => host?.dispose());

  type Security = Partial<ContainerConfig["security"]>;

  /** What the script printed, in a pod of its own. */
  async function said(
    name: string,
    script: string,
    security: Security = {},
    change: Partial<ContainerConfig> = {},
  ): Promise<string> {
    const { runtime } = host;
    const sandbox = host.sandboxConfig(name);
    const id = await runtime.runPodSandbox(sandbox, "");
    try {
      const plain = host.containerConfig("main", script, change);
      const config = {
        ...plain,
        security: { ...plain.security, ...security },
      };
      const container = await runtime.createContainer(id, config, sandbox);
      await runtime.startContainer(container);
      await eventually(
        async () =>
          (await runtime.containerStatus(container)).state === "exited",
        { what: `the end of ${name}` },
      );
      const log = path.join(sandbox.logDirectory, "main.log");
      const lines = await eventually(() => {
        const text = fs.readFileSync(log, "utf8");
        return / END\n$/.test(text) ? text.trimEnd().split("\n") : undefined;
      });
      return lines
        .slice(0, -1)
        .map((line) => `${line.split(" ").slice(3).join(" ")}\n`)
        .join("");
    } finally {
      await runtime.stopPodSandbox(id);
      await runtime.removePodSandbox(id);
    }
  }
  const status = (...fields: string[]): string =>
    fields
      .map((field) => `grep ^${field}: /proc/self/status | tr -s '\t ' ' '`)
      .join("; ");
  /** Each line says whether it was done. */
  const tries = (...commands: string[]): string =>
    commands
      .map((command) => `(${command}) >/dev/null 2>&1 && echo yes || echo no`)
      .join("; ");
  const ended = (script: string): string => `${script}; echo END`;

  test("nothing asked: the usual capabilities, the kernel's files hidden or read-only, no devices", async () => {
    const output = await said(
      "plain",
      ended(
        [
          status("CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"),
          "cat /proc/self/oom_score_adj",
          tries(
            "echo 1 > /proc/sys/kernel/panic",
            "echo b > /proc/sysrq-trigger",
            "touch /sys/x",
            "ls /sys/firmware/* ",
            "head -c 1 /proc/keys | grep -q .",
          ),
          // The machine's first disk, and its memory.
          "mknod /tmp/disk b 253 0; mknod /tmp/mem c 1 1",
          tries("head -c 1 /tmp/disk", "head -c 1 /tmp/mem"),
        ].join("; "),
      ),
      {},
      { resources: { oomScoreAdj: 987 } },
    );
    expect(output).toBe(
      [
        "CapEff: 00000000a80425fb",
        "CapBnd: 00000000a80425fb",
        "CapAmb: 0000000000000000",
        "NoNewPrivs: 0",
        "Seccomp: 0",
        "987",
        ...Array<string>(7).fill("no"),
        "",
      ].join("\n"),
    );
  });

  test("all taken: no capability, no way to get one, a user and groups", async () => {
    const output = await said(
      "strict",
      ended(
        [
          status("CapPrm", "CapBnd", "NoNewPrivs", "Seccomp", "Uid", "Gid"),
          status("Groups"),
          tries("touch /x"),
        ].join("; "),
      ),
      {
        capabilitiesDrop: ["ALL"],
        noNewPrivs: true,
        readonlyRootfs: true,
        runAsUser: 1000,
        runAsGroup: 3000,
        supplementalGroups: [2000, 4000],
        seccomp: { type: "runtime-default" },
      },
    );
    expect(output.replaceAll(" \n", "\n")).toBe(
      `CapPrm: 0000000000000000
CapBnd: 0000000000000000
NoNewPrivs: 1
Seccomp: 2
Uid: 1000 1000 1000 1000
Gid: 3000 3000 3000 3000
Groups: 2000 3000 4000
no
`,
    );
  });

  test("a filter of the node's own counts, and one that is not there is an error", async () => {
    const profile = path.join(host.directory, "no-mkdir.json");
    fs.writeFileSync(
      profile,
      JSON.stringify({
        defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }],
      }),
    );
    const seccomp = (file: string): Security => ({
      seccomp: { type: "localhost", localhostRef: file },
    });
    const script = ended(tries("mkdir /tmp/d", "touch /tmp/f"));
    expect(await said("filtered", script, seccomp(profile))).toBe("no\nyes\n");
    await expect(
      said("unfiltered", script, seccomp(`${profile}.none`)),
    ).rejects.toThrow(/no-mkdir\.json\.none/);
  });

  test("nothing of /proc is hidden only where that is asked", async () => {
    const hidden = ended(
      "grep -c '^[^ ]* [^ ]* [^ ]* [^ ]* /proc/' /proc/self/mountinfo",
    );
    expect(await said("masked", hidden)).not.toBe("0\n");
    expect(await said("unmasked", hidden, { unmaskedProc: true })).toBe("0\n");
  });

  test("a device is there with the permissions it was given", async () => {
    const device = (permissions: string): Partial<ContainerConfig> => ({
      devices: [
        {
          containerPath: "/dev/given",
          hostPath: "/dev/loop-control",
          permissions,
        },
      ],
    });
    const script = ended(
      tries("test -c /dev/given", "exec 3</dev/given", "exec 3>/dev/given"),
    );
    expect(await said("read", script, {}, device("r"))).toBe("yes\nyes\nno\n");
    expect(await said("write", script, {}, device("rw"))).toBe(
      "yes\nyes\nyes\n",
    );
  });
});

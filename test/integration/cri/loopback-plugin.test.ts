// The script in the place of the plug-in loopback, in network namespaces, beside the machine's plug-in.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  installLoopbackScript,
  loopbackScript,
} from "../../../cri/cni/loopback-script.ts";
import { linkPlugins } from "../../../cri/private-containerd/plugin-links.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-test-lo'-");
const machinePlugins = "/usr/lib/cni";
const real = path.join(machinePlugins, "loopback");
const made: string[] = [];

const ip = (...args: string[]): string =>
  execFileSync("ip", args, { encoding: "utf8" });

function namespace(prefix = "cni-"): string {
  const name = `${prefix}${randomBytes(8).toString("hex")}`;
  ip("netns", "add", name);
  made.push(name);
  return name;
}

afterEach(() => {
  for (const name of made.splice(0)) ip("netns", "del", name);
});

interface Call {
  command: string;
  at: string;
  name?: string;
}

function run(
  program: string,
  { command, at, name = "lo" }: Call,
): { status: number | null; stdout: string } {
  return spawnSync(program, {
    input: '{"cniVersion":"0.3.1","name":"cni-loopback","type":"loopback"}',
    env: {
      PATH: process.env["PATH"],
      CNI_COMMAND: command,
      CNI_CONTAINERID: randomBytes(32).toString("hex"),
      CNI_IFNAME: name,
      CNI_NETNS: at,
      CNI_PATH: machinePlugins,
    },
    encoding: "utf8",
  });
}

/** A script whose plug-in for the rest says what it was asked. */
function scriptBefore(text: string): string {
  const directory = temporary();
  const other = path.join(directory, "other");
  fs.writeFileSync(other, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  const script = path.join(directory, "script");
  fs.writeFileSync(script, loopbackScript(other), { mode: 0o755 });
  return script;
}

const isUp = (name: string): boolean =>
  ip("-n", name, "link", "show", "lo").includes("LOOPBACK,UP");

test("the link is up, and the result is the plug-in's", async () => {
  const script = await installLoopbackScript(temporary(), machinePlugins);
  const results = [script!, real].map((program) => {
    const name = namespace();
    const { status, stdout } = run(program, {
      command: "ADD",
      at: `/var/run/netns/${name}`,
    });
    expect([status, isUp(name)]).toEqual([0, true]);
    return JSON.parse(stdout.replaceAll(name, "NAME")) as unknown;
  });
  expect(results[0]).toEqual(results[1]);
});

test("a namespace that containerd removes next is left as it is, also when it is gone", () => {
  const script = scriptBefore("exit 7");
  const name = namespace();
  const at = `/run/netns/${name}`;
  expect(run(script, { command: "ADD", at }).status).toBe(0);
  expect(run(script, { command: "DEL", at })).toMatchObject({
    status: 0,
    stdout: "",
  });
  expect(isUp(name)).toBe(true);
  const gone = { command: "DEL", at: "/run/netns/cni-00" };
  expect(run(script, gone).status).toBe(0);
});

test("the plug-in does what the script does not know, and says what went wrong", () => {
  const script = scriptBefore('printf "%s %s" "$CNI_COMMAND" "$CNI_NETNS"');
  const own = namespace();
  const calls: Call[] = [
    { command: "ADD", at: "/proc/1/ns/net" },
    { command: "DEL", at: "" },
    { command: "ADD", at: `/run/netns/${namespace("other-")}` },
    { command: "DEL", at: "/run/netns/cni-" },
    { command: "ADD", at: "/run/netns/cni-x; reboot" },
    { command: "ADD", at: `/tmp/run/netns/${own}` },
    { command: "ADD", at: `/run/netns/${own}`, name: "eth0" },
    { command: "CHECK", at: `/run/netns/${own}` },
    { command: "VERSION", at: `/run/netns/${own}` },
    // The namespace is gone.
    { command: "ADD", at: "/run/netns/cni-00" },
  ];
  for (const call of calls)
    expect(run(script, call)).toMatchObject({
      status: 0,
      stdout: `${call.command} ${call.at}`,
    });
  expect(isUp(own)).toBe(false);
});

test("it takes the link's place, and gives it back; without the machine's plug-in there is none", async () => {
  const directory = path.join(temporary(), "plugins");
  const own = await installLoopbackScript(temporary(), machinePlugins);
  const target = async (script?: string): Promise<string> => {
    const given: Record<string, string> =
      script === undefined ? {} : { loopback: script };
    await linkPlugins(directory, machinePlugins, given);
    return fs.readlinkSync(path.join(directory, "loopback"));
  };
  expect(await target()).toBe(real);
  expect(await target(own)).toBe(own);
  expect(await target()).toBe(real);
  expect(fs.readlinkSync(path.join(directory, "ptp"))).toBe(
    path.join(machinePlugins, "ptp"),
  );
  expect(await installLoopbackScript(temporary(), temporary())).toBeUndefined();
});

// The script in place of the plug-in loopback: what it answers, and that the link lo is up in every namespace all the same.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import { cniFileName } from "../../../cri/cni/configuration.ts";
import { setUpPodNetwork } from "../../../cri/cni/network.ts";
import { linkPlugins } from "../../../cri/cni/plugin-links.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-test-loopback-");
const machinePlugins = "/usr/lib/cni";
const made: string[] = [];

function namespace(): string {
  const name = `cni-${randomBytes(8).toString("hex")}`;
  execFileSync("ip", ["netns", "add", name]);
  made.push(name);
  return name;
}

afterEach(() => {
  for (const name of made.splice(0)) execFileSync("ip", ["netns", "del", name]);
});

/** True when lo is up in the namespace and answers in both families. */
function isUp(at: string): boolean {
  const text = execFileSync("ip", ["-n", at, "addr", "show", "lo"], {
    encoding: "utf8",
  });
  return ["UP", "127.0.0.1/8", "::1/128"].every((part) => text.includes(part));
}

/** A directory of plug-ins as a private containerd has it, with the pod network that the agent sets up. */
async function pluginDirectory(): Promise<{
  bin: string;
  configuration: string;
  /** With rules of our own (the default), or without, as on a machine where they can't be set. */
  setUp: (rules?: boolean) => Promise<boolean>;
  link: () => string;
  run: (
    plugin: string,
    command: string,
    at: string,
    id?: string,
  ) => { status: number | null; stdout: string };
}> {
  const directory = path.join(temporary(), "it's");
  const bin = await linkPlugins(path.join(directory, "bin"), machinePlugins);
  const configuration = path.join(directory, "net.d");
  const podCidr = `10.${randomInt(150, 199)}.${randomInt(256)}.0/24`;
  return {
    bin,
    configuration,
    setUp: (rules = true) =>
      setUpPodNetwork(
        {
          directory: configuration,
          ipamDirectory: path.join(directory, "leases"),
          podCidr,
          pluginDirectory: bin,
          setPodRules: () =>
            rules ? Promise.resolve() : Promise.reject(new Error("no nft")),
        },
        pino({ level: "silent" }),
      ),
    link: () => fs.readlinkSync(path.join(bin, "loopback")),
    run(plugin, command, at, id = randomBytes(32).toString("hex")) {
      const { status, stdout } = spawnSync(path.join(bin, plugin), {
        input: JSON.stringify({
          ...{ cniVersion: "0.4.0", name: "net", type: plugin },
          ipam: {
            type: "host-local",
            dataDir: path.join(directory, "leases"),
            ranges: [[{ subnet: podCidr }]],
          },
        }),
        encoding: "utf8",
        env: {
          PATH: process.env["PATH"],
          CNI_COMMAND: command,
          CNI_CONTAINERID: id,
          CNI_IFNAME: plugin === "loopback" ? "lo" : "eth0",
          CNI_NETNS: at === "" ? "" : `/var/run/netns/${at}`,
          CNI_PATH: bin,
        },
      });
      return { status, stdout };
    },
  };
}

test("loopback only answers, and the pod's own plug-in sets lo up", async () => {
  const { setUp, link, run } = await pluginDirectory();
  expect(link()).toBe(path.join(machinePlugins, "loopback"));
  await setUp();
  expect(link()).toBe("orbit-loopback");
  const at = namespace();
  const { stdout } = run("loopback", "ADD", at);
  expect(JSON.parse(stdout)).toMatchObject({
    interfaces: [{ name: "lo", sandbox: `/var/run/netns/${at}` }],
    ips: [{ address: "127.0.0.1/8" }],
  });
  expect(isUp(at)).toBe(false);
  expect(run("orbit-pair", "ADD", at).status).toBe(0);
  expect(isUp(at)).toBe(true);
  expect(run("loopback", "DEL", at)).toEqual({ status: 0, stdout: "" });
  // What it does not know the machine's plug-in does.
  expect(run("loopback", "CHECK", at).stdout).not.toContain('"code"');
  expect(JSON.parse(run("loopback", "VERSION", "").stdout)).toHaveProperty(
    "supportedVersions",
  );
});

test("lo is up where the pod's plug-in hands the call to ptp", async () => {
  const { setUp, run } = await pluginDirectory();
  await setUp();
  const at = namespace();
  expect(run("orbit-pair", "ADD", at, "a-name").status).toBe(0);
  expect(isUp(at)).toBe(true);
  // An error of either plug-in is the answer.
  const failed = run("orbit-pair", "ADD", "cni-not-there", "a-name");
  expect(failed.status).not.toBe(0);
  expect(JSON.parse(failed.stdout)).toHaveProperty("code");
});

test("beside another configuration, and without ours, the machine's plug-in sets lo up", async () => {
  const { setUp, configuration, run } = await pluginDirectory();
  await setUp();
  for (const name of ["10-other.conflist", "10-other.conf", "10-other.json"]) {
    const other = path.join(configuration, name);
    fs.writeFileSync(other, "{}");
    const at = namespace();
    expect(run("loopback", "ADD", at).status).toBe(0);
    expect(isUp(at)).toBe(true);
    fs.rmSync(other);
  }
  fs.rmSync(path.join(configuration, cniFileName));
  const at = namespace();
  run("loopback", "ADD", at);
  expect(isUp(at)).toBe(true);
});

test("the machine's plug-in comes back with other plug-ins for pods, and at each start", async () => {
  const { bin, setUp, link, run } = await pluginDirectory();
  const plain = path.join(machinePlugins, "loopback");
  await setUp();
  await setUp(false);
  expect(link()).toBe(plain);
  // The runtime may have read the former configuration only.
  expect(await setUp()).toBe(true);
  expect(link()).toBe(plain);
  expect(await setUp()).toBe(false);
  expect(link()).toBe("orbit-loopback");
  await linkPlugins(bin, machinePlugins);
  expect(link()).toBe(plain);
  await setUp();
  const at = namespace();
  expect(run("loopback", "CHECK", at).status).not.toBe(0);
});

test("a directory whose plug-ins are no links is left as it is", async () => {
  const { bin, setUp } = await pluginDirectory();
  const loopback = path.join(bin, "loopback");
  fs.rmSync(loopback);
  fs.writeFileSync(loopback, "");
  await setUp();
  expect(fs.lstatSync(loopback).isFile()).toBe(true);
});

// The utility chains of a node in the kernel's own tables, in a network namespace.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import pino from "pino";
import { UtilChains } from "../../../network/iptables/util-chains.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const namespace = `orbit-util-${randomBytes(4).toString("hex")}`;
const wrapper = ["nsenter", `--net=/run/netns/${namespace}`];
const run = (...words: string[]): string =>
  execFileSync(wrapper[0]!, [...wrapper.slice(1), ...words], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
beforeAll(() => void execFileSync("ip", ["netns", "add", namespace]));
afterAll(() => void execFileSync("ip", ["netns", "del", namespace]));
beforeEach(() => void run("nft", "flush", "ruleset"));

const rules = (family = "iptables"): string[] =>
  run(`${family}-save`)
    .split("\n")
    .filter((line) => /^(\*|:KUBE|-A)/.test(line))
    .map((line) => line.replace(/ \[.*/, ""))
    .sort();

const wanted = [
  "*filter",
  "*mangle",
  "*nat",
  "-A INPUT -j KUBE-FIREWALL",
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
  "-A OUTPUT -j KUBE-FIREWALL",
  ":KUBE-FIREWALL -",
  ":KUBE-IPTABLES-HINT -",
  ...Array<string>(3).fill(":KUBE-KUBELET-CANARY -"),
];
const wanted6 = [
  "*filter",
  "*mangle",
  "*nat",
  ":KUBE-IPTABLES-HINT -",
  ...Array<string>(3).fill(":KUBE-KUBELET-CANARY -"),
];

function node(withWrapper: readonly string[] = wrapper) {
  const clock = new FakeClock();
  const said: string[] = [];
  const logger = pino(
    { level: "debug" },
    { write: (line: string) => void said.push(line) },
  );
  const chains = new UtilChains({ clock, logger, wrapper: withWrapper });
  chains.start();
  const made = (): number =>
    said.filter((line) => line.includes("are there")).length;
  return {
    ...{ chains, clock, said },
    async makes(times: number): Promise<void> {
      await clock.advance(1000);
      await eventually(() => made() === times, { what: "the chains" });
    },
  };
}

test("both families have the reference's chains and rules, once", async () => {
  for (let times = 0; times < 2; times++) {
    const { chains, makes } = node();
    await makes(2);
    await chains.stop();
    expect(rules()).toEqual(wanted);
    expect(rules("ip6tables")).toEqual(wanted6);
  }
});

test("what others have in them stays", async () => {
  const others = [
    "-A INPUT -p tcp -m tcp --dport 9 -j DROP",
    "-A KUBE-FIREWALL -s 192.0.2.0/24 -j DROP",
  ];
  run("iptables", "-N", "KUBE-FIREWALL");
  for (const rule of others) run("iptables", ...rule.split(" "));
  const { chains, makes } = node();
  await makes(2);
  await chains.stop();
  expect(rules()).toEqual([...wanted, ...others].sort());
});

test("they are made again within a minute when the tables are flushed, and not while they are there", async () => {
  const { chains, clock, makes, said } = node();
  await makes(2);
  await clock.advance(59_000);
  await chains.stop();
  expect(said.join("")).not.toContain("was flushed");

  const other = node();
  await other.makes(2);
  run("iptables", "-t", "mangle", "-F");
  run("iptables", "-t", "mangle", "-X");
  run("iptables", "-F");
  run("iptables", "-X");
  expect(rules()).not.toEqual(wanted);
  await other.clock.advance(60_000);
  await eventually(() => {
    expect(rules()).toEqual(wanted);
    return true;
  });
  await eventually(() => other.said.join("").includes("iptables was flushed"));
  await other.chains.stop();
});

test("a machine without iptables has none, and it is in the log once", async () => {
  const { chains, clock, said } = node(["env", "PATH=/nowhere"]);
  await clock.advance(1000);
  await eventually(() => said.length === 2, { what: "both families" });
  await clock.advance(600_000);
  await chains.stop();
  expect(said).toHaveLength(2);
  expect(said[0]).toContain("no utility chains in iptables");
});

test("nothing is made after the stop", async () => {
  const { chains, clock } = node();
  await chains.stop();
  await clock.advance(60_000);
  expect(rules()).toEqual([]);
});

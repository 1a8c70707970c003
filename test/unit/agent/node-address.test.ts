// The node's address is never one of the pods': every pod's interface on the host has the gateway's address. One that is given
// and that no interface has is reported once it is there.
import type { NetworkInterfaceInfo } from "node:os";
import { pino } from "pino";
import { GivenAddresses } from "../../../agent/node/given-addresses.ts";
import { choosePrimary } from "../../../agent/node/machine.ts";
import { agentOptions } from "../../../cli/options/agent.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { agentConfig } from "../../../cli/parts/agent/agent-config.ts";
import { at, withAddresses } from "../../support/interfaces.ts";

const pods = { veth1: at("10.42.0.1"), veth2: at("10.42.0.1") };
const ranges = ["10.42.0.0/24", "fd00:1::/64"];

test.each<[string, string[], NodeJS.Dict<NetworkInterfaceInfo[]>, string]>([
  [
    "the default route's",
    ["b"],
    { a: at("10.0.0.1"), b: at("10.0.0.2") },
    "10.0.0.2",
  ],
  ["the first without a route", [], { ...pods, a: at("10.0.0.1") }, "10.0.0.1"],
  ["none while only pods have one", [], pods, "127.0.0.1"],
  [
    "not that of a pod's route",
    ["veth1"],
    { ...pods, a: at("10.0.0.1") },
    "10.0.0.1",
  ],
  [
    "IPv6",
    [],
    { ...pods, p: at("fd00:1::5"), a: at("fd00:2::5") },
    "fd00:2::5",
  ],
  [
    "one of each family, that of the first range first",
    ["a"],
    { ...pods, a: [...at("fd00:2::5"), ...at("10.0.0.1")] },
    "10.0.0.1 fd00:2::5",
  ],
  ["no link-local one", [], { a: at("fe80::1") }, "127.0.0.1"],
])("%s", (_what, defaults, interfaces, expected) => {
  expect(choosePrimary(defaults, interfaces, ranges)).toEqual(
    expected.split(" "),
  );
});

test("of a preferred family, where there is one", () => {
  const both = { a: [...at("10.0.0.1"), ...at("fd00:2::5")] };
  const one = ["10.42.0.0/24"];
  const chosen = (
    preferred: "IPv4" | "IPv6" | undefined,
    interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>,
    podRanges: readonly string[],
  ) => choosePrimary([], interfaces, podRanges, preferred);
  expect(chosen(undefined, both, one)).toEqual(["10.0.0.1"]);
  expect(chosen("IPv6", both, one)).toEqual(["fd00:2::5"]);
  expect(chosen("IPv6", { a: at("10.0.0.1") }, one)).toEqual(["10.0.0.1"]);
  expect(chosen("IPv6", both, ranges)).toEqual(["fd00:2::5", "10.0.0.1"]);
  expect(chosen("IPv4", both, [...ranges].reverse())).toEqual([
    "10.0.0.1",
    "fd00:2::5",
  ]);
});

test("--node-ip=0.0.0.0 and :: are no addresses", () => {
  const of = (text: string) => {
    const { nodeIPs, preferredFamily } = agentConfig(
      parseOptions(agentOptions, [`--node-ip=${text}`]),
    );
    return [nodeIPs, preferredFamily];
  };
  expect(of("0.0.0.0")).toEqual([[], "IPv4"]);
  expect(of("::")).toEqual([[], "IPv6"]);
  expect(of("10.0.0.1,fd00::1")).toEqual([["10.0.0.1", "fd00::1"], undefined]);
});

test("an address of --node-ip that no interface has is named once, and reported when one has it", () => {
  const logged: unknown[] = [];
  const logger = pino(
    { level: "warn" },
    { write: (line) => logged.push(line) },
  );
  let interfaces = withAddresses("10.0.0.1");
  const given = new GivenAddresses(["10.0.0.1", "fd00:0::2"], {
    interfaces: () => interfaces,
    logger,
  });
  expect([given.look(), given.look()]).toEqual([["10.0.0.1"], ["10.0.0.1"]]);
  expect(logged).toEqual([
    expect.stringMatching(/"nodeIp":"fd00:0::2".*no network interface/),
  ]);
  interfaces = withAddresses("10.0.0.1", "fd00::2");
  expect(given.look()).toEqual(["10.0.0.1", "fd00:0::2"]);
  interfaces = {};
  expect(given.look()).toEqual([]);
  expect(logged).toHaveLength(2);
});

test("every address of the loopback network is the machine's", () => {
  const given = new GivenAddresses(["127.0.0.7"], {
    interfaces: () => ({}),
    logger: pino({ level: "silent" }),
  });
  expect(given.look()).toEqual(["127.0.0.7"]);
});

// The guard of the kernel's table of connections: who fills it can't begin others, what it has goes on, others do not notice.
import { pino } from "pino";
import { ConnectionGuard } from "../../../network/conntrack/connection-guard.ts";
import { nftCommand } from "../../../network/nft/nft-command.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";

const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
const network = new NetworkMachines();
let node: Machine;
let flooder: Machine;
let other: Machine;
let target: Machine;
const flooderIps = ["10.42.0.2", "fd42::2"];
const otherIps = ["10.42.0.3", "fd42::3"];
const targetIp = "10.42.0.4";

beforeAll(async () => {
  node = network.node("node");
  flooder = network.pod(node, "flooder", flooderIps);
  other = network.pod(node, "other", otherIps);
  target = network.pod(node, "target", [targetIp]);
  await target.serve("tcp", 80);
  await target.serve("udp", 81);
  // The kernel tracks where rules ask for it, as a node's do.
  const rules =
    "table ip mine { chain c { type filter hook forward priority 0; ct state new accept; }; }";
  node.run("nft", rules);
});
afterAll(() => network.stop());

/** Datagrams from ports of their own. */
const datagrams = String.raw`
use Socket;
my ($first, $count, $host) = @ARGV;
my $to = pack_sockaddr_in(9, inet_aton($host));
for my $port ($first .. $first + $count - 1) {
  socket(my $socket, PF_INET, SOCK_DGRAM, 0) or die $!;
  bind($socket, pack_sockaddr_in($port, INADDR_ANY)) or die $!;
  send($socket, "x", 0, $to) or 1;
}
`;
const flood = (from: Machine, first: number, count: number): string =>
  from.run("perl", "-e", datagrams, String(first), String(count), targetIp);

const begunBy = (address: string): number =>
  node
    .run("conntrack", "-L", "-f", "ipv4")
    .split("\n")
    .filter((line) => line.includes(` src=${address} dst=${targetIp} `)).length;

const tables = (): string => node.run("nft", "list", "tables");

function started(pods: readonly { id: string; ips: readonly string[] }[]) {
  const clock = new FakeClock();
  const fill = { count: 0, max: 1000 };
  const wrapper = ["ip", "netns", "exec", node.namespace];
  const guard = new ConnectionGuard({
    ...{ clock, logger, wrapper, least: 10 },
    run: nftCommand({ wrapper }),
    fill: () => fill,
  });
  guard.setOwn(["10.42.0.0/24", "fd42::/64"]);
  guard.setAll(pods);
  const look = (): Promise<void> => clock.advanceAsync(11_000);
  return { guard, fill, look };
}

const connects = (from: Machine): Promise<string> =>
  from.connect({ protocol: "tcp", host: targetIp, port: 80, waitMs: 3000 });

test("a pod that fills the table begins no others until there is room, others do", async () => {
  const { guard, fill, look } = started([
    { id: "1", ips: flooderIps },
    { id: "2", ips: otherIps },
  ]);
  const own = await flooder.open({
    protocol: "udp",
    host: targetIp,
    port: 81,
  });
  flood(flooder, 20_000, 800);
  flood(other, 20_000, 100);
  fill.count = 799;
  await look();
  expect(tables()).not.toContain("orbit-share");
  fill.count = 900;
  await eventually(async () => {
    await look();
    return tables().includes("orbit-share");
  });
  const before = begunBy(flooderIps[0]!);
  expect(before).toBeGreaterThan(700);
  flood(flooder, 30_000, 100);
  expect(begunBy(flooderIps[0]!)).toBeLessThanOrEqual(before);
  expect(await connects(flooder)).toBe("timeout");
  expect(await connects(other)).not.toBe("timeout");
  const received = await own();
  await eventually(async () => (await own()) > received);

  // It stays full: what the pod began is forgotten.
  fill.count = 960;
  await eventually(async () => {
    await look();
    return begunBy(flooderIps[0]!) < 10;
  });
  expect(begunBy(otherIps[0]!)).toBeGreaterThan(90);

  fill.count = 100;
  await eventually(async () => {
    await look();
    return !tables().includes("orbit-share");
  });
  expect(await connects(flooder)).not.toBe("timeout");
  await guard.stop();
});

test("connections of pods that are gone are forgotten, the node's are not touched", async () => {
  const { guard, fill, look } = started([{ id: "2", ips: otherIps }]);
  flood(flooder, 40_000, 200);
  fill.count = 900;
  await eventually(async () => {
    await look();
    return begunBy(flooderIps[0]!) < 10;
  });
  expect(begunBy(otherIps[0]!)).toBeGreaterThan(0);
  await guard.stop();
  expect(tables()).not.toContain("orbit-share");
});

test("rules that another process left go at the start and when it stops", async () => {
  node.run("nft", "add", "table", "ip", "orbit-share-10-42-0-0-24");
  const { guard } = started([]);
  await eventually(() => !tables().includes("orbit-share"));
  await guard.stop();
});

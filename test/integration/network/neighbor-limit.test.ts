// What a pod asks by ARP under others' addresses, on a machine whose links do not check sources strictly.
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { pairLinkPrefix } from "../../../cri/cni/pair-script.ts";
import { PodNetwork } from "../../../network/pods/pod-network.ts";
import { eventually } from "../../support/eventually.ts";
import {
  NetworkMachines,
  type Machine,
} from "../../support/network-machines.ts";

const logger = pino({ level: process.env.ORBIT_TEST_LOG ?? "silent" });
const network = new NetworkMachines();
const link = `${pairLinkPrefix}01234567`;
let node: Machine;
let pod: Machine;
let rules: PodNetwork;

beforeAll(async () => {
  node = network.node("node");
  pod = network.pod(node, "pod", ["10.42.0.2"]);
  // All addresses have a way there, as on any node.
  network.neighbour(node, "out", { own: "192.0.2.2", nodes: "192.0.2.1" });
  node.run("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=2");
  const [, name] = /dev (\S+)/.exec(
    node.run("ip", "route", "show", "10.42.0.2"),
  ) as RegExpExecArray;
  node.run("ip", "link", "set", name!, "down");
  node.run("ip", "link", "set", name!, "name", link);
  node.run("ip", "link", "set", link, "up");
  node.run("ip", "route", "replace", "10.42.0.2/32", "dev", link);
  rules = new PodNetwork({
    ...{ clusterRanges: ["10.42.0.0/16"], clock: systemClock, logger },
    wrapper: ["ip", "netns", "exec", node.namespace],
  });
  await rules.setOwn(["10.42.0.0/24"]);
});
afterAll(async () => {
  await rules?.stop();
  network.stop();
});

/** Each question has another sender. */
const questions = String.raw`
use Socket;
my ($count, $to, $target) = @ARGV;
$to = pack("H*", $to =~ s/://gr);
socket(my $raw, 17, SOCK_RAW, 0) or die $!;
my ($link) = qx(ip -o link show eth0) =~ /^(\d+):/;
my $mac = pack("H12", "0a5800000001");
my $address = pack("S n i S C C a8", 17, 0x0806, $link, 0, 0, 6, $to);
for my $n (1 .. $count) {
  my $body = pack("n n C C n", 1, 0x0800, 6, 4, 1) . $mac . pack("C C n", 198, 51, $n) . "\0" x 6 . inet_aton($target);
  send($raw, $to . $mac . pack("n", 0x0806) . $body, 0, $address) or die $!;
}
`;

function neighborsAfter(count: number): number {
  const [, mac] = /link\/ether (\S+)/.exec(
    node.run("ip", "link", "show", "dev", link),
  ) as RegExpExecArray;
  pod.run(...["perl", "-e", questions, String(count), mac!, "169.254.1.1"]);
  return node
    .run("ip", "-4", "-o", "neigh", "show", "dev", link)
    .split("\n")
    .filter((line) => line.startsWith("198.51.")).length;
}

test("they leave few neighbours, also when another program has deleted the rules", async () => {
  expect(neighborsAfter(300)).toBeLessThan(40);
  node.run("nft", "delete", "table", "arp", "orbit-pods-10-42-0-0-24");
  await eventually(() =>
    node.run("nft", "list", "tables").includes("table arp orbit-pods"),
  );
  expect(neighborsAfter(300)).toBeLessThan(80);
  // Without them each takes its place.
  await rules.stop();
  node.run("nft", "delete", "table", "arp", "orbit-pods-10-42-0-0-24");
  expect(neighborsAfter(300)).toBeGreaterThan(200);
});

// A machine without nft: policies can't hold there, and an error says so.
import { pino } from "pino";
import { systemClock } from "../../../../api/clock.ts";
import { networkPolicies } from "../../../../client/resources.ts";
import { NetworkPolicies } from "../../../../network/policy/network-policies.ts";
import { passes, startControlPlane } from "../../../support/control-plane.ts";

/** All programs but nft. */
const wrapper = [
  "sh",
  "-c",
  '[ "$0" = nft ] && { echo "nft: not found" >&2; exit 127; }; exec "$0" "$@"',
];

test("policies do not hold without nft: an error says so", async () => {
  const plane = await startControlPlane({ controllers: { controllers: [] } });
  const lines: string[] = [];
  const policies = new NetworkPolicies({
    client: plane.client,
    nodeName: "node-1",
    tableName: "orbit-policy-test",
    podRanges: ["10.42.0.0/24"],
    clock: systemClock,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    wrapper,
  });
  try {
    await plane.client.resource(networkPolicies).create({
      metadata: { name: "deny", namespace: "default" },
      spec: { podSelector: { matchLabels: { app: "web" } } },
    });
    await policies.start();
    await passes(() =>
      expect(lines.join("")).toMatch(
        /"problem":"nft: nft: not found","msg":"nftables can't be used: NetworkPolicies do not hold on this node.*--disable network-policy/,
      ),
    );
  } finally {
    await policies.stop();
    await plane.stop();
  }
});

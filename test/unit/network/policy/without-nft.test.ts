// A machine without nft: policies can't hold there, which is said, and no pod that one selects starts.
import { pino } from "pino";
import { systemClock } from "../../../../api/clock.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";
import { networkPolicies } from "../../../../client/resources.ts";
import { NetworkPolicies } from "../../../../network/policy/network-policies.ts";
import {
  passes,
  startControlPlane,
  testPod,
} from "../../../support/control-plane.ts";

/** All programs but nft. */
const wrapper = [
  "sh",
  "-c",
  '[ "$0" = nft ] && { echo "nft: not found" >&2; exit 127; }; exec "$0" "$@"',
];

test("policies do not hold without nft: an error says so, and selected pods do not start", async () => {
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
    const pod = (name: string, app: string): Pod => {
      const made = testPod(name, { nodeName: "node-1" });
      return {
        ...made,
        metadata: { ...made.metadata, labels: { app }, uid: name },
      };
    };
    await expect(
      policies.protect(pod("web", "web"), ["10.42.0.2"]),
    ).rejects.toThrow(
      "the rules of the network policies that select the pod could not be written",
    );
    await policies.protect(pod("other", "other"), ["10.42.0.3"]);
  } finally {
    await policies.stop();
    await plane.stop();
  }
});

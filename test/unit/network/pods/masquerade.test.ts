// What of the pods' traffic leaves with the node's address: the rules' text, and when they are written.
import {
  masqueradeRules,
  masqueradeTable,
  PodMasquerade,
} from "../../../../network/pods/masquerade.ts";
import { pino } from "pino";
import {
  nftCommand,
  type RunNft,
} from "../../../../network/nft/nft-command.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const podMasquerade = (
  clusterRanges: readonly string[],
  run: RunNft,
): PodMasquerade =>
  new PodMasquerade({
    clusterRanges,
    run,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });

test("the whole table of a range, named after it", () => {
  expect(masqueradeTable("10.1.0.0/24")).toBe("orbit-pods-10-1-0-0-24");
  expect(masqueradeRules("10.1.0.0/24", ["10.1.0.0/16", "10.1.0.0/24"])).toBe(
    `table ip orbit-pods-10-1-0-0-24
delete table ip orbit-pods-10-1-0-0-24
table ip orbit-pods-10-1-0-0-24 {
  set inside {
    type ipv4_addr; flags interval; auto-merge;
    elements = { 10.1.0.0/24, 10.1.0.0/16, 224.0.0.0/4 }
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr 10.1.0.0/24 ip daddr != @inside masquerade
  }
}
`,
  );
  expect(masqueradeRules("fd00::/64")).toContain(
    "table ip6 orbit-pods-fd00-64 ",
  );
});

describe("the node's rules", () => {
  const scripts: string[] = [];
  const run = async (script: string): Promise<void> => {
    scripts.push(script);
  };
  beforeEach(() => (scripts.length = 0));

  test("each family has the ranges of its own", async () => {
    const rules = podMasquerade(["10.1.0.0/16", "fd00::/48"], run);
    await rules.setOwn(["10.1.0.0/24", "fd00::/64"]);
    expect(scripts).toHaveLength(1);
    expect(scripts[0]).toContain("{ 10.1.0.0/24, 10.1.0.0/16, 224.0.0.0/4 }");
    expect(scripts[0]).toContain("{ fd00::/64, fd00::/48, ff00::/8 }");
    expect(rules.tables).toEqual([
      "ip orbit-pods-10-1-0-0-24",
      "ip6 orbit-pods-fd00-64",
    ]);
  });

  test("written again only for what changed, the last known at the end", async () => {
    const rules = podMasquerade([], run);
    await rules.setPeers(["10.1.1.0/24"]);
    expect(scripts).toEqual([]);
    await rules.setOwn(["10.1.0.0/24"]);
    await rules.setOwn(["10.1.0.0/24"]);
    await rules.setPeers(["10.1.1.0/24"]);
    expect(scripts).toHaveLength(1);
    void rules.setPeers([]);
    await rules.setPeers(["10.1.2.0/24"]);
    expect(scripts.at(-1)).toContain(
      "{ 10.1.0.0/24, 10.1.2.0/24, 224.0.0.0/4 }",
    );
  });

  test("another range of the node takes the old table away", async () => {
    const rules = podMasquerade([], run);
    await rules.setOwn(["10.1.0.0/24"]);
    await rules.setOwn(["10.1.7.0/24"]);
    expect(scripts.at(-1)).toMatch(
      /^table ip orbit-pods-10-1-0-0-24\ndelete table ip orbit-pods-10-1-0-0-24\ntable ip orbit-pods-10-1-7-0-24\n/,
    );
  });

  test("a failure is nft's, and the rules are written the next time", async () => {
    let fails = true;
    const rules = podMasquerade([], async (script) => {
      if (fails) throw new Error("nft: no");
      await run(script);
    });
    await expect(rules.setOwn(["10.1.0.0/24"])).rejects.toThrow("nft: no");
    fails = false;
    await rules.setOwn(["10.1.0.0/24"]);
    expect(scripts).toHaveLength(1);
  });
});

test("what the kernel does not take is rejected with nft's text", async () => {
  await expect(
    podMasquerade([], nftCommand()).setOwn(["10.1.0.0/99"]),
  ).rejects.toThrow(/^nft: /);
});

// What a kernel without tables of the family arp is answered with: one warning, however often the rules are written.
import pino from "pino";
import { PodNetwork } from "../../../../network/pods/pod-network.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("limits that can't be set are named once", async () => {
  const warnings: string[] = [];
  const logger = pino(
    { level: "warn" },
    { write: (line: string) => void warnings.push(line) },
  );
  const network = new PodNetwork({
    clusterRanges: [],
    clock: new FakeClock(),
    logger,
    // nft, as far as it matters: it takes everything but such tables.
    wrapper: ["sh", "-c", "! grep -q 'table arp'"],
  });
  try {
    await network.setOwn(["10.9.0.0/24"]);
    await network.setOwn(["10.9.0.0/24", "10.8.0.0/24"]);
  } finally {
    await network.stop();
  }
  expect(warnings.filter((line) => line.includes("ARP"))).toHaveLength(1);
});

// The slice of the DNS server when it is deleted from outside, on objects in memory.
import pino from "pino";
import { createClient } from "../../../../client/create-client.ts";
import { MemoryObjects } from "../../../../client/memory-objects.ts";
import { endpointSlices } from "../../../../client/resources.ts";
import {
  keepDnsEndpoint,
  ownDnsSlice,
} from "../../../../network/dns/dns-service.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const endpoint = { nodeName: "a", address: "192.0.2.1", port: 10053 };
const place = ["kube-dns-a-v4", "kube-system"] as const;

function scene() {
  const objects = new MemoryObjects();
  const client = createClient(objects, {
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
  });
  const problems: unknown[] = [];
  const dispose = keepDnsEndpoint({
    client,
    endpoint: () => endpoint,
    onProblem: (error) => problems.push(error),
  });
  objects.put(endpointSlices, ownDnsSlice(endpoint));
  const slice = () => client.resource(endpointSlices).get(...place);
  return { objects, problems, dispose, slice };
}

describe("the slice of the DNS server", () => {
  it("is written again when it was deleted", async () => {
    const { objects, slice, problems } = scene();
    objects.remove(endpointSlices, ...place);
    expect((await slice()).endpoints[0]?.addresses).toEqual(["192.0.2.1"]);
    expect(problems).toEqual([]);
  });

  it("stays away once the server has withdrawn it", async () => {
    const { objects, dispose, slice } = scene();
    dispose();
    objects.remove(endpointSlices, ...place);
    await expect(slice()).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("is not made for the slice of another server", async () => {
    const { objects, slice } = scene();
    const again = (await slice()).metadata.uid;
    const other = ownDnsSlice({ ...endpoint, nodeName: "b" });
    objects.put(endpointSlices, other);
    objects.remove(endpointSlices, other.metadata.name, "kube-system");
    expect((await slice()).metadata.uid).toBe(again);
  });
});

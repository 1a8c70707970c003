import type { Event } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import {
  endpoints,
  endpointSlices,
  events,
  services,
} from "../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  type ControlPlane,
} from "../../support/control-plane.ts";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane({
    controllers: { mirroringMaxEndpointsPerSubset: 2 },
  });
});
afterEach(() => plane.stop());

test("annotations are mirrored too, and an event says how many addresses are not", async () => {
  const metadata = { name: "s", namespace: "default" };
  await plane.client.resource(services).create({
    metadata,
    spec: { ports: [{ port: 80, protocol: "TCP" }] },
  });
  await plane.client.resource(endpoints).create({
    metadata: {
      ...metadata,
      annotations: {
        note: "n",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "endpoints.kubernetes.io/last-change-trigger-time":
          "2024-01-01T00:00:00Z",
      },
    },
    subsets: [
      {
        addresses: ["1", "2", "3"].map((last) => ({ ip: `10.0.0.${last}` })),
        ports: [{ port: 80, protocol: "TCP" }],
      },
    ],
  });
  const slices = () => plane.api.all<EndpointSlice>(endpointSlices);
  await passes(() => {
    expect(slices()).toHaveLength(1);
    expect(slices()[0]?.metadata.annotations).toEqual({ note: "n" });
    expect(
      plane.api
        .all<Event>(events)
        .map(({ reason, message }) => [reason, message]),
    ).toContainEqual([
      "TooManyAddressesToMirror",
      "A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped",
    ]);
  });
  await plane.client.resource(endpoints).patch("s", "default", {
    type: "merge",
    body: { metadata: { annotations: { note: "m" } } },
  });
  await passes(() =>
    expect(slices()[0]?.metadata.annotations).toEqual({ note: "m" }),
  );
});

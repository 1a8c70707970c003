// Where the service of an APIService is reached, with and without a data path to service addresses.
import {
  createServiceResolver,
  type Routing,
} from "../../../../apiserver-lite/aggregation/service-resolver.ts";
import type { AnyObject } from "../../../../api/object.ts";

const objects: Record<string, object> = {
  "services/plain": {
    spec: { clusterIP: "10.0.0.1", ports: [{ name: "a", port: 443 }] },
  },
  "endpoints/plain": {
    subsets: [
      { addresses: [{ ip: "192.0.2.9" }], ports: [{ name: "b", port: 9 }] },
      {
        notReadyAddresses: [{ ip: "192.0.2.8" }],
        ports: [{ name: "a", port: 1 }],
      },
      { addresses: [{ ip: "192.0.2.1" }], ports: [{ name: "a", port: 8443 }] },
    ],
  },
  "services/headless": {
    spec: { type: "ClusterIP", clusterIP: "None", ports: [{ port: 443 }] },
  },
  "endpoints/headless": {
    subsets: [{ addresses: [{ ip: "2001:db8::1" }], ports: [{ port: 6443 }] }],
  },
  "services/bare": { spec: { clusterIP: "10.0.0.2", ports: [{ port: 443 }] } },
  "services/empty": { spec: { clusterIP: "10.0.0.3", ports: [{ port: 443 }] } },
  "endpoints/empty": {},
  "services/outside": {
    spec: { type: "ExternalName", externalName: "api.example.com" },
  },
};

function resolve(routing: Routing, name: string, port = 443): string {
  const resolver = createServiceResolver({
    state: {
      read: (_group, resource, _namespace, name) =>
        objects[`${resource}/${name}`] as AnyObject | undefined,
      list: () => [],
    },
    routing,
    ownPlace: () => ({ host: "127.0.0.1", port: 6443 }),
  });
  try {
    const place = resolver({ namespace: "default", name, port });
    return `${place.host} ${place.port}`;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ["plain", 443, "10.0.0.1 443", "192.0.2.1 8443"],
  ["plain", 444, 'no service port 444 found for service "plain"'],
  [
    "headless",
    443,
    'cannot route to service with ClusterIP "None"',
    "2001:db8::1 6443",
  ],
  ["bare", 443, "10.0.0.2 443", 'endpoints "bare" not found'],
  ["empty", 443, "10.0.0.3 443", 'no endpoints available for service "empty"'],
  ["none", 443, 'service "none" not found'],
  ["kubernetes", 443, "127.0.0.1 6443"],
  ["kubernetes", 444, 'service "kubernetes" not found'],
])("%s:%i", (name, port, cluster, endpoints = cluster) => {
  expect(resolve("cluster", name, port)).toBe(cluster);
  expect(resolve("endpoints", name, port)).toBe(endpoints);
  expect(resolve("no-data-path", name, port)).toBe(endpoints);
});

test("an external name is a place of its own", () => {
  const place = "api.example.com 8443";
  expect(resolve("cluster", "outside", 8443)).toBe(place);
  expect(resolve("no-data-path", "outside", 8443)).toBe(place);
  expect(resolve("endpoints", "outside", 8443)).toBe(
    'unsupported service type "ExternalName"',
  );
});

// Host names that listeners and routes have in common, references by grants, and what a listener is worth.
import { referencesBy } from "../../../../network/ingress/gateway/grants.ts";
import { commonHosts } from "../../../../network/ingress/gateway/hostnames.ts";
import {
  gatewayProblem,
  planListener,
} from "../../../../network/ingress/gateway/listeners.ts";
import type {
  Gateway,
  GatewayListener,
  ReferenceGrant,
} from "../../../../network/ingress/gateway/objects.ts";
import { conditionsWith } from "../../../../network/ingress/gateway/conditions.ts";

// The examples of HTTPRoute.spec.hostnames.
test.each([
  [undefined, undefined, [""]],
  [undefined, ["a.test", "*.b.test"], ["a.test", "*.b.test"]],
  ["a.test", undefined, ["a.test"]],
  ["test.example.com", ["test.example.com", "x.com"], ["test.example.com"]],
  ["test.example.com", ["*.example.com"], ["test.example.com"]],
  ["*.example.com", ["test.example.com"], ["test.example.com"]],
  ["*.example.com", ["a.b.example.com"], ["a.b.example.com"]],
  ["*.example.com", ["example.com"], []],
  ["*.example.com", ["*.foo.example.com"], ["*.foo.example.com"]],
  ["*.foo.example.com", ["*.example.com"], ["*.foo.example.com"]],
  ["*.example.com", ["*.example.com"], ["*.example.com"]],
  ["*.example.com", ["*.ample.com"], []],
  ["foo.example.net", ["example.com", "*.com"], []],
  ["Foo.Test", ["foo.test"], ["foo.test"]],
])("listener %s, route %j: %j", (listener, route, expected) =>
  expect(commonHosts(listener, route)).toEqual(expected),
);

describe("a reference into another namespace", () => {
  const grant = (to: ReferenceGrant["spec"]["to"]): ReferenceGrant => ({
    metadata: { name: "g", namespace: "b" },
    spec: { from: [{ group: "x", kind: "Route", namespace: "a" }], to },
  });
  const may = (
    grants: ReferenceGrant[],
    { kind = "Route", namespace = "a", name = "s" } = {},
  ): boolean =>
    referencesBy((of) => (of === "b" ? grants : []))({
      from: { group: "x", kind, namespace },
      to: { group: "", kind: "Service", namespace: "b", name },
    });
  const all = [grant([{ group: "", kind: "Service" }])];

  test("counts where a grant allows it", () => {
    expect(may(all)).toBe(true);
    expect(may([])).toBe(false);
    expect(may([], { namespace: "b" })).toBe(true);
  });

  test("is refused for another kind, namespace, group or name", () => {
    expect(may(all, { kind: "Other" })).toBe(false);
    expect(may(all, { namespace: "c" })).toBe(false);
    expect(may([grant([{ group: "", kind: "Secret" }])])).toBe(false);
    expect(may([grant([{ group: "y", kind: "Service" }])])).toBe(false);
    const named = [grant([{ group: "", kind: "Service", name: "s" }])];
    expect(may(named)).toBe(true);
    expect(may(named, { name: "t" })).toBe(false);
  });
});

describe("a listener", () => {
  const gateway: Gateway = {
    metadata: { name: "g", namespace: "a" },
    spec: { gatewayClassName: "orbit", listeners: [] },
  };
  const reasons = (
    listener: Partial<GatewayListener>,
    {
      state = "open" as "open" | "pending" | { problem: string },
      certificate = undefined as string | undefined,
      socket = { id: "s", port: 1, tls: false } as
        { id: string; port: number; tls: boolean } | string,
    } = {},
  ): string[] =>
    planListener(
      gateway,
      { name: "l", port: 1, protocol: "HTTP", ...listener },
      {
        mayRefer: ({ from, to }) => from.namespace === to.namespace,
        certificateProblem: () => certificate,
        socketFor: () => socket,
        socketState: () => state,
      },
    ).conditions.map((each) => `${each.type} ${each.status} ${each.reason}`);
  const pair = (more: object = {}) => ({
    protocol: "HTTPS",
    tls: { certificateRefs: [{ name: "pair", ...more }] },
  });

  test.each([
    [{}, {}, "Programmed True Programmed"],
    [{}, { state: "pending" as const }, "Programmed False Pending"],
    [{}, { state: { problem: "taken" } }, "Accepted False PortUnavailable"],
    [{}, { socket: "used for HTTPS" }, "Conflicted True ProtocolConflict"],
    [{ protocol: "TCP" }, {}, "Accepted False UnsupportedProtocol"],
    [
      { protocol: "HTTPS", tls: { mode: "Passthrough" } },
      {},
      "Accepted False UnsupportedProtocol",
    ],
    [{ protocol: "HTTPS" }, {}, "ResolvedRefs False InvalidCertificateRef"],
    [pair(), {}, "ResolvedRefs True ResolvedRefs"],
    [
      pair(),
      { certificate: "junk" },
      "ResolvedRefs False InvalidCertificateRef",
    ],
    [pair({ kind: "Own" }), {}, "ResolvedRefs False InvalidCertificateRef"],
    [pair({ namespace: "b" }), {}, "ResolvedRefs False RefNotPermitted"],
    [
      { allowedRoutes: { kinds: [{ kind: "TCPRoute" }] } },
      {},
      "ResolvedRefs False InvalidRouteKinds",
    ],
  ])("%j with %j: %s", (listener, context, expected) =>
    expect(reasons(listener, context)).toContain(expected),
  );
});

test.each([
  [{}, undefined],
  [{ addresses: [{ value: "192.0.2.1" }] }, undefined],
  [{ addresses: [{ type: "IPAddress" }] }, undefined],
  [{ addresses: [{ value: "192.0.2.2" }] }, "UnsupportedAddress"],
  [{ addresses: [{ type: "Hostname", value: "h" }] }, "UnsupportedAddress"],
  [{ infrastructure: { parametersRef: {} } }, "InvalidParameters"],
  [{ tls: { frontend: {} } }, "Invalid"],
])("a Gateway with %j: %s", (more, reason) =>
  expect(
    gatewayProblem({ gatewayClassName: "orbit", listeners: [], ...more }, [
      "192.0.2.1",
    ])?.[0],
  ).toBe(reason),
);

test("a condition keeps the time of its last change", () => {
  const planned = [
    { type: "A", status: "True" as const, reason: "A", message: "" },
    { type: "B", status: "False" as const, reason: "B", message: "" },
  ];
  const before = conditionsWith(planned, undefined, 1, "t1");
  const after = conditionsWith(
    [planned[0]!, { ...planned[1]!, status: "True" }],
    before,
    2,
    "t2",
  );
  expect(after.map((each) => each.lastTransitionTime)).toEqual(["t1", "t2"]);
  expect(after[0]!.observedGeneration).toBe(2);
});

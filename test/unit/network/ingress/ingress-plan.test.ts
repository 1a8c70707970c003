// Ingresses, Services and annotations as the proxy gets them.
import { ingressPlan } from "../../../../network/ingress/feed/ingress-routes.ts";
import { ingressSettings } from "../../../../network/ingress/feed/ingress-settings.ts";
import { withOwnAddresses } from "../../../../network/ingress/feed/node-addresses.ts";
import {
  backendKey,
  backendState,
} from "../../../../network/ingress/feed/service-backend.ts";
import type { Node, Service } from "../../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../../api/types/discovery-v1.ts";
import type {
  Ingress,
  IngressSpec,
} from "../../../../api/types/networking-v1.ts";

const sockets = { http: "http", https: "https", httpsPort: 443 };

function ingress(
  spec: IngressSpec,
  annotations: Record<string, string> = {},
): Ingress {
  return {
    metadata: {
      name: "i",
      namespace: "shop",
      creationTimestamp: "2026-01-01T00:00:00Z",
      annotations,
    },
    spec,
  };
}

const toWeb = { service: { name: "web", port: { number: 80 } } };

test("rules, default backend and certificates", () => {
  const plan = ingressPlan(
    ingress({
      defaultBackend: { service: { name: "rest", port: { name: "http" } } },
      rules: [
        {
          host: "a.test",
          http: {
            paths: [
              { path: "/x", pathType: "Exact", backend: toWeb },
              { pathType: "ImplementationSpecific", backend: toWeb },
            ],
          },
        },
        { host: "b.test" },
      ],
      tls: [{ hosts: ["a.test"], secretName: "pair" }, { hosts: ["c.test"] }],
    }),
    sockets,
  );
  expect(plan.routes.map((each) => each.sockets)).toEqual([
    ["http"],
    ["https"],
  ]);
  expect(
    plan.routes[0]!.rules.map(({ hosts, matches, action }) => [
      hosts,
      matches.map(({ path }) => `${path.type} ${path.value}`),
      action.kind === "forward" ? action.backends[0]!.backend : action.kind,
    ]),
  ).toEqual([
    [["a.test"], ["Exact /x"], "shop/web:80"],
    [["a.test"], ["Prefix /"], "shop/web:80"],
    [["b.test"], ["Prefix /"], "shop/rest:http"],
    [["a.test", "b.test", ""], [], "shop/rest:http"],
  ]);
  expect(plan.backends.map(backendKey)).toEqual([
    "shop/web:80",
    "shop/rest:http",
  ]);
  expect(plan.certificateUses).toEqual([
    {
      sockets: ["https"],
      rank: "2026-01-01T00:00:00Z shop/i",
      hosts: ["a.test"],
      certificate: "shop/pair",
    },
  ]);
  expect(plan.problems).toEqual([]);
});

test("other kinds of backends are refused by name", () => {
  const plan = ingressPlan(
    ingress({
      defaultBackend: {
        resource: { apiGroup: "x", kind: "Bucket", name: "b" },
      },
    }),
    sockets,
  );
  expect(plan.problems.join()).toMatch(/Bucket b is no Service/);
  expect(plan.routes[0]!.rules[0]!.action).toMatchObject({
    kind: "answer",
    status: 503,
  });
});

test("a redirect is for HTTP only", () => {
  const plan = ingressPlan(
    ingress(
      {
        rules: [
          {
            http: {
              paths: [{ pathType: "Prefix", path: "/", backend: toWeb }],
            },
          },
        ],
      },
      { "ingress.orbit.io/https-redirect": "true" },
    ),
    { ...sockets, httpsPort: 8443 },
  );
  const [http, https] = plan.routes.map(({ rules }) => rules[0]!.action);
  expect(http).toEqual({
    kind: "redirect",
    status: 308,
    scheme: "https",
    port: 8443,
  });
  expect(https!.kind).toBe("forward");
});

describe("annotations", () => {
  const read = (name: string, value: string) =>
    ingressSettings({ [`ingress.orbit.io/${name}`]: value });

  test.each([
    ["response-timeout", "1m30s", { limits: { responseTimeoutMs: 90_000 } }],
    ["idle-timeout", "500ms", { limits: { idleTimeoutMs: 500 } }],
    ["max-body-size", "1Ki", { limits: { maxBodyBytes: 1024 } }],
    ["max-body-size", "0", { limits: { maxBodyBytes: 0 } }],
    ["backend-protocol", "GRPC", { protocol: "h2c" }],
    ["backend-tls-verify", "false", { verify: false }],
    ["https-redirect", "True", { httpsRedirect: true }],
  ])("%s %s", (name, value, expected) => {
    const settings = read(name, value);
    expect(settings).toMatchObject(expected);
    expect(settings.problems).toEqual([]);
  });

  test.each([
    ["response-timeout", "0s"],
    ["response-timeout", "soon"],
    ["idle-timeout", "-5s"],
    ["max-body-size", "-1"],
    ["max-body-size", "big"],
    ["backend-protocol", "toString"],
    ["backend-tls-verify", "no"],
    ["https-redirect", ""],
    ["constructor", "x"],
  ])("%s %j is a problem, and nothing is served", (name, value) => {
    expect(read(name, value).problems).toHaveLength(1);
    const plan = ingressPlan(
      ingress(
        { defaultBackend: toWeb },
        { [`ingress.orbit.io/${name}`]: value },
      ),
      sockets,
    );
    expect(plan.routes[0]!.rules[0]!.action.kind).toBe("answer");
  });

  test("of others are none of ours", () =>
    expect(ingressSettings({ "nginx.org/x": "1" }).problems).toEqual([]));
});

describe("a backend", () => {
  const service = (port: object = {}, spec: object = {}): Service => ({
    metadata: { name: "web", namespace: "shop" },
    spec: { ports: [{ name: "http", port: 80, ...port }], ...spec },
  });
  const slice = (
    endpoints: EndpointSlice["endpoints"],
    addressType = "IPv4",
  ): EndpointSlice => ({
    metadata: { name: "web-1", namespace: "shop" },
    addressType,
    endpoints,
    ports: [{ name: "http", port: 8080 }],
  });
  const spec = { namespace: "shop", service: "web", port: "http" };

  test.each([
    [undefined, "http"],
    ["https", "https"],
    ["kubernetes.io/h2c", "h2c"],
    ["grpc", "h2c"],
    ["kubernetes.io/wss", "https"],
    ["example.com/own", "http"],
  ])("of appProtocol %s speaks %s", (appProtocol, protocol) => {
    const result = backendState(spec, service({ appProtocol }), [], undefined);
    expect(result).toMatchObject({ state: { protocol } });
  });

  test("over TLS is verified by the Service's name", () =>
    expect(
      backendState(spec, service({ appProtocol: "https" }), [], undefined),
    ).toMatchObject({
      state: { tls: { serverName: "web.shop.svc", verify: true } },
    }));

  test.each([
    [undefined, /there is no Service shop\/web/],
    [service({ name: "other" }), /no port http/],
    [service({ protocol: "UDP" }), /not TCP/],
    [service({}, { type: "ExternalName" }), /ExternalName/],
  ])("is refused: %#", (given, problem) => {
    const result = backendState(spec, given, [], undefined);
    expect("problem" in result && result.problem).toMatch(problem);
  });

  test("without the authority it names is refused", () => {
    const result = backendState(
      { ...spec, authority: "Secret/ca" },
      service(),
      [],
      undefined,
    );
    expect("problem" in result && result.problem).toMatch(/no usable ca.crt/);
  });

  test("has ready endpoints of one family, sorted, none that leads to the machine itself", () => {
    const result = backendState(
      spec,
      service({}, { ipFamilies: ["IPv4", "IPv6"] }),
      [
        slice([
          { addresses: ["10.0.0.2"], conditions: { ready: true } },
          { addresses: ["10.0.0.1"] },
          { addresses: ["10.0.0.3"], conditions: { ready: false } },
          { addresses: ["127.0.0.1"] },
          { addresses: ["169.254.169.254"] },
        ]),
        slice([{ addresses: ["fd00::1"] }], "IPv6"),
      ],
      undefined,
    );
    expect("state" in result && result.state.endpoints).toEqual([
      { address: "10.0.0.1", port: 8080 },
      { address: "10.0.0.2", port: 8080 },
    ]);
  });
});

test("a status has this node's addresses and those that other nodes have", () => {
  const node = (name: string, ...addresses: [string, string][]): Node => ({
    metadata: { name },
    spec: {},
    status: {
      addresses: addresses.map(([type, address]) => ({ type, address })),
    },
  });
  const nodes = [
    node("a", ["InternalIP", "10.0.0.1"], ["Hostname", "a"]),
    node("b", ["InternalIP", "10.0.0.2"], ["ExternalIP", "192.0.2.2"]),
  ];
  const current = ["10.9.9.9", "192.0.2.2", "10.0.0.2"];
  expect(withOwnAddresses(current, nodes, "a", true)).toEqual([
    "10.0.0.1",
    "192.0.2.2",
  ]);
  expect(withOwnAddresses(["10.0.0.1"], nodes, "a", false)).toEqual([]);
  expect(withOwnAddresses([], nodes, "b", true)).toEqual(["192.0.2.2"]);
});

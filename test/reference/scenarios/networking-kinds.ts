// Ingress, IngressClass and NetworkPolicy: defaults, what is refused, what may change.
import { createEach, plain, updateEach, each, names } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

export const networkingKinds: Scenario = {
  name: "networking-kinds",
  async run(server) {
    const { namespace, call } = server;
    const within = (group: string, resource: string): string =>
      `/apis/${group}/namespaces/${namespace}/${resource}`;

    const backend = { service: { name: "s", port: { number: 80 } } };
    const path = { path: "/", pathType: "Prefix", backend };
    const rule = (changes: object): unknown => ({
      http: { paths: [{ ...path, ...changes }] },
    });
    const ingress = {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "i" },
      spec: { rules: [rule({})] },
    };
    const ingresses = within("networking.k8s.io/v1", "ingresses");
    await createEach(server, "ingress", ingresses, ingress, [
      ...names.slice(0, 2),
      { spec: undefined },
      { spec: {} },

      { "spec.rules": [{}] },
      { "spec.rules": undefined, "spec.defaultBackend": backend },
      ...each("spec.defaultBackend", [
        {},
        { service: {} },
        { service: { name: "S_", port: {} } },
        { service: { name: "s", port: { number: 0 } } },
        { service: { name: "s", port: { number: 70000 } } },
        { service: { name: "s", port: { name: "a b" } } },
        { service: { name: "s", port: { name: "http", number: 1 } } },
        { resource: { kind: "K", name: "n" } },
        { resource: { kind: "", name: "" } },
        { resource: { apiGroup: "a b", kind: "K/", name: "n/" } },
        { ...backend, resource: { kind: "K", name: "n" } },
      ]),
      ...each("spec.rules", [
        [rule({ path: "a" })],
        [rule({ path: "" })],
        [rule({ path: undefined })],
        [rule({ pathType: undefined })],
        [rule({ pathType: "Other" })],
        [rule({ pathType: "ImplementationSpecific", path: "" })],
        [rule({ pathType: "Exact", path: "//" })],
        [rule({ path: "/a/./b" })],
        [rule({ path: "/a/../b" })],
        [rule({ path: "/a%2fb" })],
        [rule({ path: "/a/.." })],
        [rule({ pathType: "ImplementationSpecific", path: "[" })],
        [rule({ backend: undefined })],
        [rule({ backend: {} })],
        [{ http: { paths: [] } }],
        [{ host: "A" }],
        [{ host: "1.2.3.4" }],
        [{ host: "*.a.b" }],
        [{ host: "*.a" }],
        [{ host: "a.*.b" }],
        [{ host: "::1" }],
        [{ host: "a b" }],
      ]),
      ...each("spec.ingressClassName", ["a", "A", ""]),
      ...each("spec.tls", [
        [{}],
        [{ hosts: ["a.b"], secretName: "s" }],
        [{ hosts: ["A", "*.c", "*"], secretName: "S_" }],
      ]),
      { "metadata.annotations": { "kubernetes.io/ingress.class": "a" } },
      {
        "metadata.annotations": { "kubernetes.io/ingress.class": "a" },
        "spec.ingressClassName": "b",
      },
      { "metadata.annotations": { "kubernetes.io/ingress.class": "" } },
      { status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } } },
    ]);
    await updateEach(server, "ingress", ingresses, ingress, [
      {},
      { "spec.ingressClassName": "b" },
      { "spec.rules": [{ host: "A" }] },
      { "metadata.labels": { a: "b" } },
      { "status.loadBalancer": { ingress: [{ ip: "1.2.3.4" }] } },
      { "metadata.annotations": { "kubernetes.io/ingress.class": "a" } },
    ]);
    await updateEach(
      server,
      "ingress",
      ingresses,
      ingress,
      each("status.loadBalancer.ingress", [
        [{ ip: "1.2.3.4" }],
        [{ ip: "x" }],
        [{ hostname: "A_" }],
        [{ hostname: "1.2.3.4" }],
        [
          {
            ip: "1.2.3.4",
            hostname: "a.b",
            ports: [{ port: 0, protocol: "X" }],
          },
        ],
        [{}],
        [
          {
            ip: "1.2.3.4",
            ports: [{ port: 80, protocol: "TCP", error: "a b" }],
          },
        ],
      ]),
      "status",
    );

    const ingressClass = {
      apiVersion: "networking.k8s.io/v1",
      kind: "IngressClass",
      metadata: { name: "ic-ref" },
      spec: { controller: "a.b/c" },
    };
    const classes = "/apis/networking.k8s.io/v1/ingressclasses";
    await createEach(server, "ingressclass", classes, ingressClass, [
      ...names.slice(0, 3),
      { spec: undefined },
      ...each("spec.controller", [
        "",
        "a",
        "a.b/",
        "/a",
        `a.b/${"c".repeat(260)}`,
        "A_/b",
      ]),
      ...each("spec.parameters", [
        {},
        { kind: "K", name: "n" },
        { kind: "K/", name: "n%", apiGroup: "A_" },
        { kind: "K", name: "n", scope: "Namespace" },
        { kind: "K", name: "n", scope: "Namespace", namespace: "a" },
        { kind: "K", name: "n", scope: "Cluster", namespace: "a" },
        { kind: "K", name: "n", scope: "Other" },
        { kind: "K", name: "n", scope: "Namespace", namespace: "A_" },
      ]),
      {
        "metadata.annotations": {
          "ingressclass.kubernetes.io/is-default-class": "true",
        },
      },
    ]);
    await updateEach(server, "ingressclass", classes, ingressClass, [
      {},
      { "spec.controller": "a.b/d" },
      { "spec.parameters": { kind: "K", name: "n", scope: "Cluster" } },
      { "metadata.annotations": { a: "b" } },
    ]);

    const policy = {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "np" },
      spec: { podSelector: {} },
    };
    const policies = within("networking.k8s.io/v1", "networkpolicies");
    const peer = (value: unknown): unknown => [{ from: [value] }];
    await createEach(server, "networkpolicy", policies, policy, [
      ...names.slice(0, 2),
      { spec: undefined },
      { spec: {} },
      { "spec.podSelector": { matchLabels: { "a b": "c" } } },
      { "spec.egress": [{}] },
      { "spec.ingress": [] },
      ...each("spec.policyTypes", [
        [],
        ["Egress"],
        ["Ingress", "Egress"],
        ["Other"],
        ["Ingress", "Egress", "Ingress"],
        ["Ingress", "Ingress"],
      ]),
      ...each("spec.ingress", [
        peer({}),
        peer({ ipBlock: { cidr: "10.0.0.0/8" } }),
        peer({ ipBlock: { cidr: "" } }),
        peer({ ipBlock: { cidr: "x" } }),
        peer({ ipBlock: { cidr: "10.0.0.1/8" } }),
        peer({ ipBlock: { cidr: "010.0.0.0/8" } }),
        peer({ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }),
        peer({
          ipBlock: {
            cidr: "10.0.0.0/8",
            except: ["11.1.0.0/16", "x", "10.0.0.0/8"],
          },
        }),
        peer({ ipBlock: { cidr: "10.0.0.0/8" }, podSelector: {} }),
        peer({
          podSelector: { matchLabels: { "?": "" } },
          namespaceSelector: { matchLabels: { "?": "" } },
        }),
      ]),
      ...each(
        "spec.ingress",
        [
          { port: 80 },
          { port: "http" },
          { port: "HTTP_" },
          { port: 0 },
          { protocol: "X" },
          { port: 80, endPort: 90 },
          { port: 80, endPort: 70 },
          { endPort: 90 },
          { port: "http", endPort: 90 },
          { port: 80, endPort: 70000 },
          {},
        ].map((port) => [{ ports: [port] }]),
      ),
      { "spec.egress": [{ to: [{}], ports: [{ port: 0 }] }] },
    ]);
    await updateEach(server, "networkpolicy", policies, policy, [
      {},
      { "spec.podSelector": { matchLabels: { a: "b" } } },
      { "spec.policyTypes": ["X"] },
    ]);
    for (const [version, resource] of [
      ["v1beta1", "ingresses"],
      ["v1", "ipaddresses"],
      ["v1beta1", "ipaddresses"],
      ["v1beta1", "servicecidrs"],
      ["v1alpha1", "servicecidrs"],
    ])
      await call(
        `networking ${version} ${resource}`,
        "GET",
        `/apis/networking.k8s.io/${version}/${resource}`,
        plain,
      );
  },
};

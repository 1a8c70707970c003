// Services of every type: what is refused, what is given, and what an update changes.
import type { Json } from "../normalise.ts";
import { changed, plain, updateEach } from "../cases.ts";
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const port = { port: 80 };
const service = (spec: object, metadata: object = {}): object => ({
  metadata: { name: "s", ...metadata },
  // A given address, so that two servers give the same.
  spec: { clusterIP: "10.96.7.7", ports: [port], ...spec },
});
const ports = (...list: object[]): object => service({ ports: list });
const headless = (spec: object): object =>
  service({ clusterIP: "None", ...spec });
const balanced = (spec: object): object =>
  service({
    type: "LoadBalancer",
    allocateLoadBalancerNodePorts: false,
    ...spec,
  });
const named = (spec: object): object => ({
  metadata: { name: "s" },
  spec: { type: "ExternalName", externalName: "a.b", ...spec },
});

const shape = {
  minimal: service({}),
  "no spec": { metadata: { name: "s" } },
  "no ports": service({ ports: undefined }),
  "empty ports": service({ ports: [] }),
  "name upper case": service({}, { name: "S" }),
  "name of digits first": service({}, { name: "1s" }),
  "name with a dot": service({}, { name: "a.b" }),
  "name long": service({}, { name: "a".repeat(64) }),
  type: service({ type: "Magic" }),
  affinity: service({ sessionAffinity: "Always" }),
  "affinity by client": service({ sessionAffinity: "ClientIP" }),
  "affinity timeout": service({
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } },
  }),
  "affinity timeout long": service({
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } },
  }),
  "affinity config without affinity": service({
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
  }),
  "affinity config empty": service({
    sessionAffinity: "ClientIP",
    sessionAffinityConfig: {},
  }),
  selector: service({ selector: { "a b": "c d" } }),
  "external ips": service({
    externalIPs: [
      "x",
      "127.0.0.1",
      "0.0.0.0",
      "224.0.0.1",
      "1.2.3.4",
      "169.254.1.1",
    ],
  }),
  "external traffic policy": service({ externalTrafficPolicy: "Local" }),
  "external traffic policy wrong": service({
    type: "NodePort",
    externalTrafficPolicy: "Far",
    ports: [{ port: 80, nodePort: 30123 }],
  }),
  "external ips with a policy": service({
    externalIPs: ["1.2.3.4"],
    externalTrafficPolicy: "Local",
  }),
  "internal traffic policy": service({ internalTrafficPolicy: "Local" }),
  "internal traffic policy wrong": service({ internalTrafficPolicy: "Far" }),
  "traffic distribution": service({ trafficDistribution: "PreferClose" }),
  "traffic distribution wrong": service({ trafficDistribution: "PreferFar" }),
  "publish not ready": service({ publishNotReadyAddresses: true }),
  "health check port": service({ healthCheckNodePort: 30500 }),
  "balancer fields on another": service({
    loadBalancerIP: "1.2.3.4",
    loadBalancerClass: "a/b",
    loadBalancerSourceRanges: ["1.2.3.0/24"],
    allocateLoadBalancerNodePorts: true,
  }),
  "topology annotation": service(
    {},
    { annotations: { "service.kubernetes.io/topology-aware-hints": "auto" } },
  ),
  "topology annotations differ": service(
    {},
    {
      annotations: {
        "service.kubernetes.io/topology-aware-hints": "auto",
        "service.kubernetes.io/topology-mode": "disabled",
      },
    },
  ),
  "status given": {
    ...(service({}) as Json),
    status: { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } },
  },
  "many at once": service({
    type: "x",
    sessionAffinity: "y",
    ports: [{ port: 0, protocol: "z", name: "A_" }],
    selector: { "a b": "" },
    externalIPs: ["z"],
    ipFamilies: ["IPv5"],
    ipFamilyPolicy: "Triple",
    internalTrafficPolicy: "q",
  }),
};

const portRows = {
  zero: ports({ port: 0 }),
  "too large": ports({ port: 65536 }),
  negative: ports({ port: -1 }),
  "two without names": ports({ port: 80 }, { port: 81 }),
  "one without a name": ports({ port: 80, name: "a" }, { port: 81 }),
  "same name": ports({ port: 80, name: "a" }, { port: 81, name: "a" }),
  "same port of two protocols": ports(
    { port: 80, name: "a" },
    { port: 80, name: "b", protocol: "UDP" },
  ),
  "bad name": ports({ port: 80, name: "A_b" }),
  "name with a dot": ports({ port: 80, name: "a.b" }),
  protocol: ports({ port: 80, protocol: "ICMP" }),
  "target zero": ports({ port: 80, targetPort: 0 }),
  "target too large": ports({ port: 80, targetPort: 70000 }),
  "target name": ports({ port: 80, targetPort: "web" }),
  "target bad name": ports({ port: 80, targetPort: "Web_" }),
  "target name long": ports({ port: 80, targetPort: "a".repeat(16) }),
  "target empty": ports({ port: 80, targetPort: "" }),
  "app protocol": ports({ port: 80, appProtocol: "http" }),
  "app protocol wrong": ports({ port: 80, appProtocol: "a b" }),
  "node port of a cluster ip": ports({ port: 80, nodePort: 30080 }),
  "node port": service({
    type: "NodePort",
    ports: [{ port: 80, nodePort: 30080 }],
  }),
  "node port twice": service({
    type: "NodePort",
    ports: [
      { port: 80, name: "a", nodePort: 30081 },
      { port: 81, name: "b", nodePort: 30081 },
    ],
  }),
  "node port of two protocols": service({
    type: "NodePort",
    ports: [
      { port: 80, name: "a", nodePort: 30082 },
      { port: 80, name: "b", protocol: "UDP", nodePort: 30082 },
    ],
  }),
  "balancer protocols": balanced({
    ports: [
      { port: 80, name: "a" },
      { port: 80, name: "b", protocol: "UDP" },
    ],
  }),
};

const addresses = {
  outside: service({ clusterIP: "1.2.3.4" }),
  "not an address": service({ clusterIP: "x" }),
  "other family": service({ clusterIP: "fd00::1" }),
  list: service({ clusterIP: undefined, clusterIPs: ["10.96.7.8"] }),
  "list differs": service({ clusterIPs: ["10.96.7.9"] }),
  "list twice": service({ clusterIPs: ["10.96.7.7", "10.96.7.7"] }),
  "list of two": service({ clusterIPs: ["10.96.7.7", "10.96.7.8"] }),
  "list of three": service({ clusterIPs: ["10.96.7.7", "fd00::1", "fd00::2"] }),
  "none and another": service({
    clusterIP: "None",
    clusterIPs: ["None", "10.96.7.8"],
  }),
  "empty in the list": service({ clusterIP: "", clusterIPs: [""] }),
  broadcast: service({ clusterIP: "10.96.255.255" }),
  network: service({ clusterIP: "10.96.0.0" }),
  family: service({ ipFamilies: ["IPv4"] }),
  "family not there": service({ ipFamilies: ["IPv6"] }),
  "family unknown": service({ ipFamilies: ["IPv5"] }),
  "family twice": service({ ipFamilies: ["IPv4", "IPv4"] }),
  "families both": service({ ipFamilies: ["IPv4", "IPv6"] }),
  "families three": service({ ipFamilies: ["IPv4", "IPv6", "IPv4"] }),
  "policy single": service({ ipFamilyPolicy: "SingleStack" }),
  "policy prefer": service({ ipFamilyPolicy: "PreferDualStack" }),
  "policy require": service({ ipFamilyPolicy: "RequireDualStack" }),
  "policy unknown": service({ ipFamilyPolicy: "Triple" }),
  "policy single and two families": service({
    ipFamilyPolicy: "SingleStack",
    ipFamilies: ["IPv4", "IPv6"],
  }),
};

const headlessRows = {
  plain: headless({ selector: { a: "b" } }),
  "without a selector": headless({}),
  "without ports": headless({ ports: [] }),
  "prefer dual": headless({
    selector: { a: "b" },
    ipFamilyPolicy: "PreferDualStack",
  }),
  "require dual": headless({
    selector: { a: "b" },
    ipFamilyPolicy: "RequireDualStack",
  }),
  "bare require dual": headless({ ipFamilyPolicy: "RequireDualStack" }),
  "bare single": headless({ ipFamilyPolicy: "SingleStack" }),
  "bare six": headless({ ipFamilies: ["IPv6"] }),
  "six with a selector": headless({
    selector: { a: "b" },
    ipFamilies: ["IPv6"],
  }),
  "as a node port": headless({ type: "NodePort" }),
  "as a balancer": headless({ type: "LoadBalancer" }),
};

const externalRows = {
  plain: named({}),
  "without a name": named({ externalName: undefined }),
  "bad name": named({ externalName: "A_" }),
  "name with a final dot": named({ externalName: "a.b." }),
  "name is an address": named({ externalName: "1.2.3.4" }),
  "with ports": named({ ports: [{ port: 80 }] }),
  "with an address": named({ clusterIP: "10.96.7.7" }),
  headless: named({ clusterIP: "None" }),
  "with families": named({
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  }),
  "with a policy": named({
    externalTrafficPolicy: "Local",
    internalTrafficPolicy: "Local",
  }),
  "name on another": service({ externalName: "a.b" }),
  "with external ips": named({ externalIPs: ["1.2.3.4"] }),
};

const balancerRows = {
  plain: balanced({}),
  ip: balanced({ loadBalancerIP: "x" }),
  "source ranges wrong": balanced({
    loadBalancerSourceRanges: ["1.2.3.4", "x"],
  }),
  "source ranges annotation": service(
    { type: "LoadBalancer", allocateLoadBalancerNodePorts: false },
    {
      annotations: {
        "service.beta.kubernetes.io/load-balancer-source-ranges":
          "1.2.3.0/24,x",
      },
    },
  ),
  class: balanced({ loadBalancerClass: "a/b" }),
  "class wrong": balanced({ loadBalancerClass: "a b" }),
  local: balanced({
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 30777,
  }),
  "cluster with a health port": balanced({ healthCheckNodePort: 30777 }),
};

export const coreServices: Scenario = {
  name: "core-services",
  async run(server) {
    const { call, namespace } = server;
    const all = `/api/v1/namespaces/${namespace}/services`;
    for (const [prefix, rows] of Object.entries({
      shape,
      port: portRows,
      address: addresses,
      headless: headlessRows,
      external: externalRows,
      balancer: balancerRows,
    }))
      await tryEach(server, all, prefix, service({}), rows);

    await call("create", "POST", all, { body: service({}), ...plain });
    await call("same address", "POST", all, {
      body: service({}, { name: "other" }),
      ...plain,
    });
    await call("node port", "POST", all, {
      body: service(
        {
          type: "NodePort",
          clusterIP: "10.96.7.10",
          ports: [{ port: 80, nodePort: 30456 }],
        },
        { name: "np" },
      ),
      ...plain,
    });
    await call("same node port", "POST", all, {
      body: service(
        {
          type: "NodePort",
          clusterIP: "10.96.7.11",
          ports: [{ port: 80, nodePort: 30456 }],
        },
        { name: "np2" },
      ),
      ...plain,
    });
    await call("same node port of another protocol", "POST", all, {
      body: service(
        {
          type: "NodePort",
          clusterIP: "10.96.7.11",
          ports: [{ port: 80, nodePort: 30456, protocol: "UDP" }],
        },
        { name: "np3" },
      ),
      ...plain,
    });
    await updateEach(
      server,
      "cluster ip",
      all,
      service({ clusterIP: "10.96.8.1" }, { name: "u1" }),
      [
        {},
        { "spec.clusterIP": "10.96.8.2" },
        { "spec.clusterIP": "10.96.8.2", "spec.clusterIPs": ["10.96.8.2"] },
        { "spec.clusterIP": "None", "spec.clusterIPs": ["None"] },
        { "spec.clusterIP": undefined },
        { "spec.clusterIP": undefined, "spec.clusterIPs": undefined },
        { "spec.clusterIPs": ["10.96.8.2"] },
        { "spec.clusterIPs": [] },
        { "spec.type": "ExternalName", "spec.externalName": "a.b" },
        {
          "spec.type": "ExternalName",
          "spec.externalName": "a.b",
          "spec.clusterIP": "",
          "spec.clusterIPs": [],
        },
        {
          "spec.type": "NodePort",
          "spec.ports": [{ port: 80, nodePort: 30600 }],
        },
        {
          "spec.type": "LoadBalancer",
          "spec.allocateLoadBalancerNodePorts": false,
        },
        { "spec.ports": [] },
        {
          "spec.ports": [
            { port: 80, name: "a" },
            { port: 81, name: "b" },
          ],
        },
        { "spec.ipFamilies": ["IPv6"] },
        { "spec.ipFamilies": ["IPv4", "IPv6"] },
        { "spec.ipFamilyPolicy": "PreferDualStack" },
        { "spec.ipFamilyPolicy": "RequireDualStack" },
        { "spec.selector": { a: "b" } },
        { "spec.sessionAffinity": "ClientIP" },
        { status: { loadBalancer: { ingress: [{ ip: "1.1.1.1" }] } } },
      ],
    );
    await updateEach(
      server,
      "node port",
      all,
      service(
        {
          clusterIP: "10.96.8.3",
          type: "NodePort",
          ports: [{ port: 80, nodePort: 30700 }],
        },
        { name: "u2" },
      ),
      [
        { "spec.ports": [{ port: 80 }] },
        { "spec.ports": [{ port: 81, nodePort: 30700 }] },
        { "spec.ports": [{ port: 80, nodePort: 30701 }] },
        { "spec.type": "ClusterIP" },
        { "spec.type": "ClusterIP", "spec.ports": [{ port: 80 }] },
        { "spec.externalTrafficPolicy": "Local" },
        { "spec.externalTrafficPolicy": undefined },
        { "spec.type": "ExternalName", "spec.externalName": "a.b" },
        { "spec.healthCheckNodePort": 30702 },
      ],
    );
    await updateEach(
      server,
      "balancer",
      all,
      {
        metadata: { name: "u3" },
        spec: {
          type: "LoadBalancer",
          allocateLoadBalancerNodePorts: false,
          ports: [port],
          clusterIP: "10.96.8.4",
          externalTrafficPolicy: "Local",
          healthCheckNodePort: 30800,
          loadBalancerClass: "a/b",
        },
      },
      [
        { "spec.loadBalancerClass": "c/d" },
        { "spec.loadBalancerClass": undefined },
        { "spec.type": "ClusterIP" },
        { "spec.healthCheckNodePort": 30801 },
        { "spec.healthCheckNodePort": 0 },
        { "spec.externalTrafficPolicy": "Cluster" },
      ],
    );
    await updateEach(
      server,
      "status of a balancer",
      all,
      { metadata: { name: "u3" } },
      [
        { "status.loadBalancer.ingress": [{ ip: "1.2.3.4" }] },
        { "status.loadBalancer.ingress": [{ ip: "1.2.3.4", ipMode: "Proxy" }] },
        { "status.loadBalancer.ingress": [{ ip: "x", hostname: "A_" }] },
        { "status.loadBalancer.ingress": [{ hostname: "1.2.3.4" }] },
        { "status.loadBalancer.ingress": [{ hostname: "h", ipMode: "VIP" }] },
        { "status.loadBalancer.ingress": [{ ip: "1.2.3.4", ipMode: "x" }] },
        {
          "status.conditions": [
            {
              type: "A",
              status: "True",
              reason: "r",
              message: "",
              lastTransitionTime: "2024-01-01T00:00:00Z",
            },
          ],
          "spec.type": "ClusterIP",
        },
        { "status.conditions": [{ type: "a b", status: "Yes" }] },
      ],
      "status",
    );
    await updateEach(
      server,
      "external name",
      all,
      {
        metadata: { name: "u4" },
        spec: { type: "ExternalName", externalName: "a.b" },
      },
      [
        { "spec.externalName": "c.d" },
        {
          "spec.type": "ClusterIP",
          "spec.clusterIP": "10.96.8.5",
          "spec.ports": [port],
        },
        {
          "spec.type": "ClusterIP",
          "spec.clusterIP": "10.96.8.5",
          "spec.ports": [port],
          "spec.externalName": undefined,
        },
      ],
    );
    await call("status of a cluster ip", "PUT", `${all}/u1/status`, {
      body: changed(service({}, { name: "u1" }), {
        "status.loadBalancer.ingress": [{ ip: "1.2.3.4" }],
      }),
      ...plain,
    });
    await call("delete", "DELETE", `${all}/s`, plain);
    await call("delete several", "DELETE", all, plain);
  },
};

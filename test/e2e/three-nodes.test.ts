// A cluster of three machines: two on one link, the third behind a router. Joining by the printed command, pods, services and
// names across nodes, and what becomes of nodes that are killed, cut off, or change their address.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../support/eventually.ts";
import type { CommandResult } from "../support/kubectl.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

let lan: NodeMachines;
let one: NodeMachine;
let two: NodeMachine;
let three: NodeMachine;
let joinWords: string[] = [];

const kubeconfig = (): string => one.kubeconfig;

async function kubectl(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await tryKubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const tryKubectl = (...args: string[]): Promise<CommandResult> =>
  one.tryKubectl(args);

/** A node that is gone is noticed within seconds. */
const heartbeat = [
  "--node-status-update-frequency=1s",
  "--node-lease-duration-seconds=8",
];

const agentWords = (machine: NodeMachine): string[] => [
  ...joinWords,
  `--root-dir=${machine.dataDirectory}`,
  "--fail-swap-on=false",
  ...heartbeat,
  // With the Secrets of all namespaces, that is not for every node.
  ...(machine === two
    ? ["--node-network=proxy,dns,network-policy,routes,load-balancer,ingress"]
    : []),
];

const nodeField = (name: string, jsonpath: string): Promise<string> =>
  kubectl("get", "node", name, "-o", `jsonpath=${jsonpath}`);

const readiness = (name: string): Promise<string> =>
  nodeField(name, '{.status.conditions[?(@.type=="Ready")].status}');

const becomes = (name: string, status: string): Promise<boolean> =>
  eventually(async () => (await readiness(name)) === status, {
    timeoutMs: 60_000,
    what: `${name} to be ${status}`,
  });

interface PodPlace {
  readonly name: string;
  readonly address: string;
  readonly node: string;
}

/** Running pods of the DaemonSet, by node. */
async function pods(): Promise<Map<string, PodPlace>> {
  const text = await kubectl(
    "get",
    "pods",
    "-l",
    "app=web",
    "--field-selector=status.phase=Running",
    "-o",
    'jsonpath={range .items[*]}{.metadata.name} {.status.podIP} {.spec.nodeName} {.metadata.deletionTimestamp}{"\\n"}{end}',
  );
  return new Map(
    text
      .split("\n")
      .map((line) => line.split(" "))
      .filter((words) => words.length >= 3 && !words[3])
      .map(([name = "", address = "", node = ""]) => [
        node,
        { name, address, node },
      ]),
  );
}

/** What the pod at that address answers; busybox resolves names in nslookup alone. */
const fetchFrom = (
  pod: PodPlace,
  address: string,
  port = 8080,
): Promise<string> =>
  tryKubectl(
    "exec",
    pod.name,
    "--",
    "sh",
    "-c",
    `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${address} ${port} | tail -1`,
  ).then(({ stdout, stderr, code }) => (code === 0 ? stdout.trim() : stderr));

const web = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: web
        image: docker.io/library/busybox:latest
        imagePullPolicy: IfNotPresent
        env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        command: [sh, -c, 'mkdir /www && echo $NODE > /www/index.html && exec httpd -f -vv -p 8080 -h /www']
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080, nodePort: 30080}]
`;

beforeAll(async () => {
  lan = new NodeMachines();
  one = lan.add("one", 77, 1);
  two = lan.add("two", 77, 2);
  three = lan.add("three", 78, 3);
  await one.start(
    "server",
    `--data-dir=${one.dataDirectory}`,
    `--manifests=${one.directory}/manifests`,
    `--write-kubeconfig=${kubeconfig()}`,
    "--cluster-cidr=10.234.0.0/16",
    "--service-cluster-ip-range=10.134.0.0/16",
    ...heartbeat,
    "--controller-manager-arg=node-monitor-period=500ms",
    "--controller-manager-arg=node-monitor-grace-period=10s",
  );
  const printed = await one.orbit(
    "token",
    "create",
    "--print-join-command",
    `--kubeconfig=${kubeconfig()}`,
  );
  expect(printed.stdout).toMatch(
    /^orbit agent --server https:\/\/192\.168\.77\.1:6443 --token /,
  );
  joinWords = printed.stdout.trim().split(" ").slice(1);
  await kubectl(
    "create",
    "clusterrolebinding",
    "ingress-two",
    "--clusterrole=orbit:ingress",
    "--user=system:node:two",
  );
  await Promise.all(
    [two, three].map((machine) => machine.start(...agentWords(machine))),
  );
  await Promise.all([one, two, three].map((machine) => machine.loadBusybox()));
  await Promise.all(["two", "three"].map((name) => becomes(name, "True")));
  await one.command(
    ["kubectl", `--kubeconfig=${kubeconfig()}`, "apply", "-f", "-"],
    { stdin: web },
  );
  await eventually(async () => (await pods()).size === 3, {
    timeoutMs: 60_000,
    what: "a pod on each node",
  }).catch(async (error: Error) => {
    throw new Error(
      `${error.message}\n${await kubectl("get", "pods,events", "-o", "wide")}`,
    );
  });
});

afterAll(() => lan?.clean());

test("each node has a range of its own, and ways to the others'", async () => {
  const ranges = await Promise.all(
    ["one", "two", "three"].map((name) => nodeField(name, "{.spec.podCIDR}")),
  );
  expect(ranges[0]).toBe("10.234.0.0/24");
  expect(new Set(ranges)).toEqual(
    new Set(["10.234.0.0/24", "10.234.1.0/24", "10.234.2.0/24"]),
  );
  await eventually(() => {
    const routes = one.run("ip", "route", "show");
    expect(routes).toContain(`${ranges[1]} via 192.168.77.2 dev eth0`);
    expect(routes).toMatch(
      new RegExp(`${ranges[2]} via ${ranges[2]!.split("/")[0]} dev orbit-`),
    );
    return true;
  });
});

test("every pod reaches every pod, by its own address", async () => {
  const places = await pods();
  for (const from of places.values())
    for (const to of places.values())
      await eventually(
        async () => (await fetchFrom(from, to.address)) === to.node,
        { what: `${from.node} → ${to.node}` },
      );
  await eventually(async () => {
    const log = await kubectl("logs", places.get("three")!.name);
    for (const { address } of places.values()) expect(log).toContain(address);
    return true;
  });
});

test("the Service is there by name on every node, and by every node's port", async () => {
  const cluster = await kubectl(
    "get",
    "service",
    "web",
    "-o",
    "jsonpath={.spec.clusterIP}",
  );
  for (const from of (await pods()).values()) {
    await eventually(async () =>
      (
        await kubectl(
          "exec",
          from.name,
          "--",
          "nslookup",
          "web.default.svc.cluster.local",
        )
      ).includes(`Address: ${cluster}`),
    );
    const seen = new Set<string>();
    await eventually(
      async () => {
        seen.add(await fetchFrom(from, cluster, 80));
        return seen.size === 3;
      },
      {
        timeoutMs: 60_000,
        what: `all of the Service's pods from ${from.node}`,
      },
    );
    expect(seen).toEqual(new Set(["one", "two", "three"]));
  }
  for (const { address } of [one, two, three])
    await eventually(async () =>
      /^(one|two|three)\n$/.test(
        (await one.command(["curl", "-s", "-m3", `http://${address}:30080/`]))
          .stdout,
      ),
    );
});

test("a second machine with the name of a node is refused, and takes nothing", async () => {
  const twin = lan.add("twin", 77, 9);
  const uid = await nodeField("two", "{.metadata.uid}");
  await expect(
    twin.start(...agentWords(twin), "--hostname-override=two"),
  ).rejects.toThrow(
    /ended with 1:\n[^]*the cluster has a node with the name "two"/,
  );
  expect(await nodeField("two", "{.metadata.uid}")).toBe(uid);
  await becomes("two", "True");
});

test("a killed agent's node is NotReady, loses its pods' endpoints, and comes back with its pods", async () => {
  const before = (await pods()).get("two")!;
  await two.stop("SIGKILL");
  await becomes("two", "Unknown");
  await eventually(async () =>
    (await nodeField("two", "{.spec.taints[*].key}")).includes(
      "node.kubernetes.io/unreachable",
    ),
  );
  // Its pods run on, and are reached.
  const from = (await pods()).get("three")!;
  await eventually(
    async () => (await fetchFrom(from, before.address)) === "two",
    { what: "its pod to be reached" },
  );
  await two.start(...agentWords(two));
  await becomes("two", "True");
  expect((await pods()).get("two")).toEqual(before);
});

test("a link that is gone and comes back: routes, node and pods come back too", async () => {
  const place = (await pods()).get("two")!;
  const before = two.run("ip", "route", "show");
  two.run("ip", "link", "set", "eth0", "down");
  await becomes("two", "Unknown");
  two.linkUp();
  await becomes("two", "True");
  await eventually(() => two.run("ip", "route", "show") === before, {
    what: "the routes to be as they were",
  });
  const from = (await pods()).get("one")!;
  await eventually(
    async () => (await fetchFrom(from, place.address)) === "two",
    { what: "its pod to be reached" },
  );
  expect((await pods()).get("two")).toEqual(place);
});

test("a node's address changes: the others follow", async () => {
  const range = await nodeField("two", "{.spec.podCIDR}");
  two.run("ip", "address", "flush", "dev", "eth0");
  two.linkUp("192.168.77.22");
  await eventually(
    () =>
      one
        .run("ip", "route", "show")
        .includes(`${range} via 192.168.77.22 dev eth0`),
    { timeoutMs: 90_000, what: "the route to its new address" },
  );
  const place = (await pods()).get("two")!;
  for (const name of ["one", "three"]) {
    const from = (await pods()).get(name)!;
    await eventually(
      async () => (await fetchFrom(from, place.address)) === "two",
      { what: `its pod to be reached from ${name}` },
    );
  }
});

test("an agent serves Ingresses when it is asked to and may", async () => {
  await kubectl("create", "ingress", "web", "--rule=/*=web:80");
  const served = async (address: string): Promise<string> =>
    (
      await one.command(["curl", "-s", "-m3", `http://${address}/index.html`])
    ).stdout.trim();
  // The one that has changed.
  const addresses = [one.address, "192.168.77.22"];
  for (const address of addresses)
    await eventually(
      async () => /^(one|two|three)$/.test(await served(address)),
      {
        what: `the Ingress at ${address}`,
      },
    );
  expect(await served(three.address)).toBe("");
  await eventually(
    async () =>
      (await kubectl(
        "get",
        "ingress",
        "web",
        "-o",
        "jsonpath={.status.loadBalancer.ingress[*].ip}",
      )) === addresses.join(" "),
    { what: "the addresses of the nodes that serve" },
  );
  await kubectl("delete", "ingress", "web");
});

test("the service proxy alone, on a machine that is no node", async () => {
  const alone = lan.add("alone", 77, 10);
  const words = ["proxy", "--hostname-override=alone"];
  await alone.launch(
    ...words,
    `--kubeconfig=${kubeconfig()}`,
    `--master=https://${one.address}:6443`,
    "--cluster-cidr=10.234.0.0/16",
    "--conntrack-max-per-core=0",
    "--conntrack-udp-timeout=47s",
  );
  const get = async (url: string): Promise<string> =>
    (await alone.command(["curl", "-sk", "-m20", url])).stdout;
  expect(await get("https://10.134.0.1/version")).toContain('"gitVersion"');
  expect(JSON.parse(await get("http://192.168.77.10:10256/healthz"))).toEqual({
    lastUpdated: expect.any(String) as string,
    currentTime: expect.any(String) as string,
    nodeEligible: true,
  });
  expect(await get("http://127.0.0.1:10249/proxyMode")).toBe("nftables");
  expect(await get("http://127.0.0.1:10249/metrics")).toContain(
    "kubeproxy_sync_proxy_rules_duration_seconds_count",
  );
  // The metrics are for this machine alone.
  expect(await get("http://192.168.77.10:10249/metrics")).toBe("");
  expect(
    alone.run("cat", "/proc/sys/net/netfilter/nf_conntrack_udp_timeout"),
  ).toBe("47\n");
  await alone.stop();
  expect(alone.run("nft", "list", "tables")).toContain(
    "table ip orbit-proxy-alone-alone",
  );
  expect((await alone.orbit(...words, "--cleanup")).code).toBe(0);
  expect(alone.run("nft", "list", "ruleset")).toBe("");
  const file = path.join(alone.directory, "proxy.conf");
  fs.writeFileSync(
    file,
    `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: alone
clientConnection: {kubeconfig: ${kubeconfig()}}
clusterCIDR: 10.234.0.0/16
metricsBindAddress: 127.0.0.1:10250
conntrack: {maxPerCore: 0, udpTimeout: 48s}
`,
  );
  await alone.launch(
    "proxy",
    `--config=${file}`,
    `--master=https://${one.address}:6443`,
  );
  expect(await get("https://10.134.0.1/version")).toContain('"gitVersion"');
  expect(await get("http://127.0.0.1:10250/proxyMode")).toBe("iptables");
  expect(
    alone.run("cat", "/proc/sys/net/netfilter/nf_conntrack_udp_timeout"),
  ).toBe("48\n");
  fs.appendFileSync(file, "nodePortAddresses: [primary]\n");
  await eventually(async () => (await get("http://127.0.0.1:10250/")) === "", {
    what: "a proxy whose file has changed to end",
  });
  expect((await alone.orbit(...words, "--cleanup")).code).toBe(0);
  expect(alone.run("iptables-save")).not.toContain("OP");
  const refused = await alone.orbit(...words, "--proxy-mode=ipvs");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/--proxy-mode.*must be one of nftables, iptables/),
  ]);
});

test("a deleted node's ways are taken away, and its range is free", async () => {
  const range = await nodeField("three", "{.spec.podCIDR}");
  await three.stop();
  await kubectl("delete", "node", "three");
  await eventually(() => !one.run("ip", "route", "show").includes(range), {
    what: "the route to go",
  });
  expect(one.run("ip", "-o", "link", "show")).not.toMatch(/: orbit-/);
});

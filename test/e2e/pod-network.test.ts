// The pod network of one node of both families, on a machine of its own: addresses, Services, policies and host ports of both,
// host ports over a kill of the server and a flush, limits of bandwidth, the size of packets, and a machine that gets another
// address.
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

let lan: NodeMachines;
let one: NodeMachine;
const link = 89;
const six = { machine: "fd89::1", router: "fd89::fe" };

const serverWords = (): string[] => [
  "server",
  `--data-dir=${one.dataDirectory}`,
  `--manifests=${one.directory}/manifests`,
  `--write-kubeconfig=${one.kubeconfig}`,
  "--cluster-cidr=10.238.0.0/16,fd42:238::/48",
  "--service-cluster-ip-range=10.138.0.0/16,fd42:138::/112",
];

const kubectl = (...args: string[]): Promise<string> => one.kubectl(...args);
const apply = (...objects: object[]): Promise<void> => one.apply(...objects);

const field = (what: string, jsonpath: string): Promise<string> =>
  kubectl("get", ...what.split(" "), "-o", `jsonpath=${jsonpath}`);

const pod = (
  name: string,
  ports: object[] = [],
  annotations: object = {},
): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, labels: { app: name }, annotations },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: "c",
        image: "docker.io/library/busybox:latest",
        imagePullPolicy: "IfNotPresent",
        command: [
          "sh",
          "-c",
          `mkdir /www && echo ${name} > /www/index.html && exec httpd -f -p 8080 -h /www`,
        ],
        ports,
      },
    ],
  },
});

const running = (name: string): Promise<unknown> =>
  kubectl("wait", "--for=condition=Ready", `pod/${name}`, "--timeout=60s");

const request = "GET / HTTP/1.0\\r\\n\\r\\n";

/** What answers there, asked from the router: `seconds` for what is answered, if only by a refusal, on a busy machine. */
const fromOutside = (host: string, port: number, seconds = 10): string => {
  try {
    return lan
      .router(
        "timeout",
        String(seconds),
        "bash",
        "-c",
        `exec 3<>/dev/tcp/${host}/${port}; printf '${request}' >&3; tail -1 <&3`,
      )
      .trim();
  } catch {
    return "";
  }
};

/** As fromOutside, from a pod. */
const fromPod = async (
  name: string,
  host: string,
  port: number,
  seconds = 10,
): Promise<string> =>
  (
    await one.tryKubectl([
      "exec",
      name,
      "--",
      "sh",
      "-c",
      `printf '${request}' | nc -w ${seconds} ${host} ${port} | tail -1`,
    ])
  ).stdout.trim();

beforeAll(async () => {
  lan = new NodeMachines();
  one = lan.add("one", link, 1);
  one.run("ip", "addr", "add", `${six.machine}/64`, "dev", "eth0", "nodad");
  lan.router(
    ..."ip addr add".split(" "),
    `${six.router}/64`,
    ...["dev", `br${link}`, "nodad"],
  );
  one.run("ip", "-6", "route", "add", "default", "via", six.router);
  await one.start(...serverWords());
  await one.loadBusybox();
  await apply(
    pod("web", [{ containerPort: 8080, hostPort: 8088 }]),
    pod("client"),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "web" },
      spec: {
        type: "NodePort",
        ipFamilyPolicy: "RequireDualStack",
        selector: { app: "web" },
        ports: [{ port: 80, targetPort: 8080, nodePort: 30_089 }],
      },
    },
  );
  await Promise.all([running("web"), running("client")]);
});

afterAll(() => lan?.clean());

test("node, pods and Services have addresses of both families, which answer", async () => {
  expect(
    await field(
      "node one",
      '{.status.addresses[?(@.type=="InternalIP")].address}',
    ),
  ).toBe(`${one.address} ${six.machine}`);
  expect(await field("node one", "{.spec.podCIDRs[*]}")).toBe(
    "10.238.0.0/24 fd42:238::/64",
  );
  const ips = (await field("pod web", "{.status.podIPs[*].ip}")).split(" ");
  expect(ips).toEqual([
    expect.stringMatching(/^10\.238\.0\.\d+$/),
    expect.stringMatching(/^fd42:238::/),
  ]);
  const services = (await field("service web", "{.spec.clusterIPs[*]}")).split(
    " ",
  );
  expect(services).toHaveLength(2);
  for (const address of ips)
    await eventually(
      async () => (await fromPod("client", address, 8080)) === "web",
      { what: address },
    );
  for (const address of services)
    await eventually(
      async () => (await fromPod("client", address, 80)) === "web",
      { what: address },
    );
  for (const address of [one.address, six.machine])
    expect([address, fromOutside(address, 30_089)]).toEqual([address, "web"]);
});

test("a policy isolates both families", async () => {
  const ips = (await field("pod web", "{.status.podIPs[*].ip}")).split(" ");
  await apply({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "closed" },
    spec: { podSelector: { matchLabels: { app: "web" } } },
  });
  for (const address of ips)
    await eventually(
      async () => (await fromPod("client", address, 8080, 2)) === "",
      { what: `${address} to be closed` },
    );
  await kubectl("delete", "networkpolicy", "closed");
  for (const address of ips)
    await eventually(
      async () => (await fromPod("client", address, 8080)) === "web",
      { what: `${address} to be open` },
    );
});

test("host ports of both families stay over a kill of the server, and come back after a flush", async () => {
  const answers = (): string[] =>
    [one.address, six.machine].map((address) => fromOutside(address, 8088));
  expect(answers()).toEqual(["web", "web"]);
  // From a pod, to itself through the node.
  expect(await fromPod("web", one.address, 8088)).toBe("web");
  await one.stop("SIGKILL");
  expect(answers()).toEqual(["web", "web"]);
  await one.start(...serverWords());
  expect(answers()).toEqual(["web", "web"]);
  one.run("nft", "flush", "ruleset");
  await eventually(() => answers().join() === "web,web");
  await eventually(() =>
    one.run("nft", "list", "tables").includes("orbit-pods-10-238-0-0-24"),
  );
  // The port goes with the pod.
  await apply(pod("other", [{ containerPort: 8080, hostPort: 8090 }]));
  await running("other");
  await eventually(() => fromOutside(one.address, 8090) === "other");
  await kubectl("delete", "pod", "other");
  await eventually(() => fromOutside(one.address, 8090, 2) === "");
});

test("bandwidth is limited by annotations, both ways; limits that can't be read keep a pod down", async () => {
  const limits = {
    "kubernetes.io/ingress-bandwidth": "32M",
    "kubernetes.io/egress-bandwidth": "16M",
  };
  await apply(
    pod("limited", [], limits),
    pod("unread", [], { "kubernetes.io/egress-bandwidth": "16" }),
  );
  await running("limited");
  const address = await field("pod limited", "{.status.podIP}");
  const other = await field("pod client", "{.status.podIP}");
  /** Milliseconds that a program of some two megabytes takes from a pod's web server to a pod. */
  const took = async (to: string, from: string): Promise<number> => {
    const began = performance.now();
    await kubectl(
      ...["exec", to, "--", "wget", "-qO", "/dev/null"],
      `http://${from}:8080/busybox`,
    );
    return performance.now() - began;
  };
  for (const name of ["limited", "client"])
    await kubectl("exec", name, "--", "cp", "/bin/busybox", "/www/busybox");
  const size = await kubectl(
    ...["exec", "client", "--", "stat", "-c", "%s", "/www/busybox"],
  );
  const bits = Number(size) * 8;
  // A busy machine takes longer; a part is left for what may leave at once.
  expect(await took("client", address)).toBeGreaterThan((bits / 16e6) * 900);
  expect(await took("limited", other)).toBeGreaterThan((bits / 32e6) * 900);
  // Of our own plug-in, or of the machine's with a runtime that has a directory of its own.
  const limiters = (): string[] =>
    one.run("ip", "-br", "link").match(/^(ifborb|bwp)\w+/gm) ?? [];
  expect(limiters()).toHaveLength(1);
  await eventually(async () =>
    (await kubectl("get", "events")).includes("(< 1kbit)"),
  );
  await kubectl("delete", "pod", "limited", "unread");
  await eventually(() => limiters().length === 0);
});

test("new pods have the size of packets that the default route's link has", async () => {
  const size = (name: string): Promise<string> =>
    kubectl("exec", name, "--", "cat", "/sys/class/net/eth0/mtu");
  expect(await size("client")).toBe("1500");
  one.run("ip", "link", "set", "eth0", "mtu", "1400");
  let n = 0;
  await eventually(
    async () => {
      const name = `small-${n++}`;
      await apply(pod(name));
      await running(name);
      return (await size(name)) === "1400";
    },
    { timeoutMs: 60_000, what: "a smaller size" },
  );
  one.run("ip", "link", "set", "eth0", "mtu", "1500");
});

test("a machine with another address is found there by all", async () => {
  const moved = `192.168.${link}.77`;
  const resolves = async (): Promise<boolean> =>
    (
      await one.tryKubectl([
        "exec",
        "client",
        "--",
        "nslookup",
        "web.default.svc.cluster.local",
      ])
    ).stdout.includes(await field("service web", "{.spec.clusterIP}"));
  await eventually(resolves);
  const internal = (): Promise<string> =>
    field("node one", '{.status.addresses[?(@.type=="InternalIP")].address}');
  // For a while it has the other family alone, as between two leases.
  one.run("ip", "addr", "del", `${one.address}/24`, "dev", "eth0");
  await eventually(async () => !(await internal()).includes(one.address), {
    what: "the address to be gone",
  });
  one.linkUp(moved);
  await eventually(async () => (await internal()).startsWith(moved), {
    what: "the node's address",
  });
  await eventually(
    async () =>
      (await field("endpoints kubernetes", "{.subsets[*].addresses[*].ip}")) ===
      moved,
    { what: "the endpoint of the API server" },
  );
  await eventually(resolves, { timeoutMs: 30_000, what: "names to resolve" });
  // Its certificate holds for the new address.
  await eventually(
    async () =>
      (
        await one.tryKubectl([
          `--server=https://${moved}:6443`,
          "get",
          "--raw=/readyz",
        ])
      ).stdout === "ok",
    { timeoutMs: 30_000, what: "a certificate for the address" },
  );
  expect(fromOutside(moved, 8088)).toBe("web");
  expect(fromOutside(moved, 30_089)).toBe("web");
});

// Addresses of load balancers on two nodes of one link, asked for by a neighbour: who announces them, what the neighbour knows,
// and where they are when a node is cut off and comes back.
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

let lan: NodeMachines;
let one: NodeMachine;
let two: NodeMachine;
const link = 91;

/** A node that is gone is noticed within seconds. */
const heartbeat = [
  "--node-status-update-frequency=1s",
  "--node-lease-duration-seconds=4",
];

const kubectl = (...args: string[]): Promise<string> => one.kubectl(...args);
const apply = (...objects: object[]): Promise<void> => one.apply(...objects);

/** What answers the neighbour there: the name of the pod's node, "refused" or "". */
const ask = (host: string, port: number): string => {
  try {
    return lan
      .router(
        "timeout",
        "2",
        "bash",
        "-c",
        `exec 3<>/dev/tcp/${host}/${port}; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; tail -1 <&3`,
      )
      .trim();
  } catch (error) {
    return String((error as { stderr: string }).stderr).includes("refused")
      ? "refused"
      : "";
  }
};

/** The hardware address that the neighbour knows for it. */
const known = (address: string): string =>
  /lladdr (\S+)/.exec(lan.router("ip", "neigh", "show", address))?.[1] ?? "";

const hardware = (machine: NodeMachine): string =>
  /link\/ether (\S+)/.exec(machine.run("ip", "link", "show", "eth0"))?.[1] ??
  "none";

const has = (machine: NodeMachine, address: string): boolean =>
  machine.run("ip", "-br", "addr").includes(` ${address}/`);

const announcers = (address: string): NodeMachine[] =>
  [one, two].filter((machine) => has(machine, address));

const service = (name: string, change: object = {}): object => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name },
  spec: {
    type: "LoadBalancer",
    ipFamilyPolicy: "RequireDualStack",
    selector: { app: "web" },
    ports: [{ port: 80, targetPort: 8080 }],
    ...change,
  },
});

const addresses = (name: string): Promise<string[]> =>
  eventually(
    async () => {
      const found = (
        await kubectl(
          ...`get service ${name} -o jsonpath={.status.loadBalancer.ingress[*].ip}`.split(
            " ",
          ),
        )
      ).split(" ");
      return found.length === 2 ? found : undefined;
    },
    { what: `addresses of ${name}` },
  );

beforeAll(async () => {
  lan = new NodeMachines();
  one = lan.add("one", link, 1);
  two = lan.add("two", link, 2);
  const six = (run: (...words: string[]) => string, dev: string, n: string) =>
    run("ip", "addr", "add", `fd91::${n}/64`, "dev", dev, "nodad");
  six((...words) => lan.router(...words), `br${link}`, "fe");
  six((...words) => one.run(...words), "eth0", "1");
  six((...words) => two.run(...words), "eth0", "2");
  await one.start(
    "server",
    `--data-dir=${one.dataDirectory}`,
    `--manifests=${one.directory}/manifests`,
    `--write-kubeconfig=${one.kubeconfig}`,
    "--cluster-cidr=10.239.0.0/16,fd42:239::/48",
    "--service-cluster-ip-range=10.139.0.0/16,fd42:139::/112",
    `--load-balancer-cidr=192.168.${link}.200/29,fd91::200/125`,
    "--controller-manager-arg=node-monitor-period=500ms",
    "--controller-manager-arg=node-monitor-grace-period=5s",
    ...heartbeat,
  );
  const { stdout } = await one.orbit(
    "token",
    "create",
    "--print-join-command",
    `--kubeconfig=${one.kubeconfig}`,
  );
  await two.start(
    ...stdout.trim().split(" ").slice(1),
    `--root-dir=${two.dataDirectory}`,
    "--fail-swap-on=false",
    ...heartbeat,
  );
  for (const machine of [one, two]) await machine.loadBusybox();
  await apply({
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "web" },
    spec: {
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: "web",
              image: "docker.io/library/busybox:latest",
              imagePullPolicy: "IfNotPresent",
              env: [
                {
                  name: "NODE",
                  valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } },
                },
              ],
              command: [
                "sh",
                "-c",
                "mkdir /www && echo $NODE > /www/index.html && exec httpd -f -p 8080 -h /www",
              ],
            },
          ],
        },
      },
    },
  });
  await kubectl("rollout", "status", "daemonset/web", "--timeout=80s");
});

afterAll(() => lan?.clean());

test("one node answers for an address, of both families, for the Service's ports alone", async () => {
  await apply(service("a"));
  for (const address of await addresses("a")) {
    await eventually(() => ["one", "two"].includes(ask(address, 80)), {
      what: address,
    });
    await eventually(
      () =>
        announcers(address).length === 1 &&
        ask(address, 80) !== "" &&
        known(address) === hardware(announcers(address)[0]!),
      { what: `one node for ${address}` },
    );
    // The machine's own programs are not at this address.
    for (const port of [10_250, 6443])
      await eventually(() => ask(address, port) === "refused", {
        what: `${address} to refuse ${port}`,
      });
  }
  const [four = "", six = ""] = await addresses("a");
  await kubectl("delete", "service", "a");
  await eventually(
    () => announcers(four).length + announcers(six).length === 0,
  );
  for (const machine of [one, two])
    await eventually(
      () => !machine.run("nft", "list", "tables").includes("orbit-lb"),
    );
});

test("nodes share the addresses, and those of a node that is cut off move, back too", async () => {
  const all: string[] = [];
  // Which node has one depends on its number.
  for (const name of ["a", "b", "c", "d"]) {
    await apply(service(name));
    all.push(...(await addresses(name)));
  }
  let moving: string[] = [];
  await eventually(
    () => {
      moving = all.filter((each) => has(two, each));
      return (
        all.every((each) => announcers(each).length === 1) &&
        moving.length > 0 &&
        moving.length < all.length
      );
    },
    { what: "one node for each address, and addresses on each node" },
  );
  for (const address of moving)
    await eventually(() => ask(address, 80) !== "" && known(address) !== "");
  lan.router("ip", "link", "set", two.port, "down");
  await eventually(() => moving.every((each) => has(one, each)), {
    timeoutMs: 60_000,
    what: "the other node to take the addresses",
  });
  for (const address of moving) {
    // Without a question of the neighbour's, unless it has forgotten the address: then it takes no announcement.
    await eventually(
      () => {
        if (known(address) === "") ask(address, 80);
        return known(address) === hardware(one);
      },
      { what: `the neighbour to learn of ${address}` },
    );
    await eventually(() => ask(address, 80) === "one", { what: address });
  }
  lan.router("ip", "link", "set", two.port, "up");
  await eventually(
    () => moving.every((each) => has(two, each) && !has(one, each)),
    { timeoutMs: 60_000, what: "the addresses to come back" },
  );
  for (const address of moving)
    await eventually(
      () => ask(address, 80) !== "" && known(address) === hardware(two),
      { what: `${address} to lead back` },
    );
});

test("externalTrafficPolicy Local: a node with an endpoint announces", async () => {
  await kubectl("label", "node", "one", "web=here");
  await kubectl(
    "patch",
    "daemonset",
    "web",
    "-p",
    '{"spec":{"template":{"spec":{"nodeSelector":{"web":"here"}}}}}',
  );
  for (const name of ["a", "b", "c", "d"])
    await kubectl(
      "patch",
      "service",
      name,
      "-p",
      '{"spec":{"externalTrafficPolicy":"Local"}}',
    );
  const all = (
    await Promise.all(["a", "b", "c", "d"].map((name) => addresses(name)))
  ).flat();
  await eventually(() => all.every((each) => has(one, each)), {
    timeoutMs: 60_000,
    what: "the node with the endpoint to have all",
  });
});

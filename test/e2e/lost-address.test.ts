// The scheduler, the controllers and the service proxy alone, each on a machine of its own that gets another address: they
// go on at once, though nothing ends their old connections.
import { eventually } from "../support/eventually.ts";
import { NodeMachines, type NodeMachine } from "../support/node-machines.ts";

let lan: NodeMachines;
let server: NodeMachine;

beforeAll(async () => {
  lan = new NodeMachines();
  server = lan.add("server", 78, 1);
  await server.launch(
    "server",
    "--disable=agent,proxy,dns,scheduler,controllers",
    "--store=memory",
    `--data-dir=${server.dataDirectory}`,
    `--manifests=${server.directory}/manifests`,
    `--write-kubeconfig=${server.kubeconfig}`,
    `--advertise-address=${server.address}`,
  );
  await server.apply({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    status: { allocatable: { pods: "10" }, capacity: { pods: "10" } },
  });
  await server.kubectl("create", "serviceaccount", "default");
}, 120_000);
afterAll(async () => {
  await lan.clean();
});

/** Starts it on a machine of its own, sees that it works, gives the machine another address, and sees that it still does. */
async function survives(
  host: number,
  readyText: RegExp,
  words: readonly string[],
  works: (name: string, machine: NodeMachine) => Promise<void>,
): Promise<void> {
  const machine = lan.add(`m${host}`, 78, host);
  machine.readyText = readyText;
  await machine.launch(
    ...words,
    `--kubeconfig=${server.kubeconfig}`,
    `--master=https://${server.address}:6443`,
  );
  await works("before", machine);
  machine.run("ip", "address", "flush", "dev", "eth0");
  machine.linkUp(`192.168.78.${host + 100}`);
  await works("after", machine);
  expect(machine.log()).toContain(
    "an address of this machine is gone: connecting again",
  );
  await machine.stop();
}

const ownPort = (name: string): string[] => [
  `--cert-dir=${server.directory}/${name}`,
  "--bind-address=127.0.0.1",
  "--secure-port=0",
];

test("the scheduler", async () => {
  await survives(
    10,
    /the scheduler runs/,
    ["scheduler", "--leader-elect=false", ...ownPort("scheduler")],
    async (name) => {
      await server.apply({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name },
        // Its node has never been ready.
        spec: {
          containers: [{ name: "c", image: "i" }],
          tolerations: [{ operator: "Exists" }],
        },
      });
      await eventually(
        async () =>
          (await server.kubectl(
            ...["get", "pod", name, "-o", "jsonpath={.spec.nodeName}"],
          )) === "n",
        { timeoutMs: 60_000, what: `the pod ${name} to have a node` },
      );
    },
  );
}, 240_000);

test("the controllers, each by its own account", async () => {
  await survives(
    11,
    /controllers run/,
    [
      "controller-manager",
      "--leader-elect=false",
      "--use-service-account-credentials",
      ...ownPort("controllers"),
    ],
    async (name) => {
      await server.kubectl("create", "deployment", name, "--image=i");
      await eventually(
        async () =>
          (await server.kubectl(
            ...["get", "pods", "-l", `app=${name}`, "-o", "name"],
          )) !== "",
        { timeoutMs: 60_000, what: `a pod of the Deployment ${name}` },
      );
    },
  );
}, 240_000);

test("the service proxy", async () => {
  await survives(
    12,
    /ready in/,
    ["proxy", "--hostname-override=n", "--cluster-cidr=10.244.0.0/16"],
    async (name, machine) => {
      await server.kubectl("create", "service", "clusterip", name, "--tcp=80");
      const address = await server.kubectl(
        ...["get", "service", name, "-o", "jsonpath={.spec.clusterIP}"],
      );
      await eventually(
        () => machine.run("nft", "list", "ruleset").includes(address),
        { timeoutMs: 60_000, what: `rules of the Service ${name}` },
      );
    },
  );
}, 240_000);

// Claims that wait for a node: the scheduler chooses node and volumes together, binds or names the node, and binds the pod
// when its claims are bound. Limits of drivers and claims for one pod alone.
import { systemClock } from "../../../api/clock.ts";
import { localPathAnnotation } from "../../../api/objects/volumes/local-path.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../../api/types/core-v1.ts";
import { createClient } from "../../../client/create-client.ts";
import {
  csiDrivers,
  csiNodes,
  csiStorageCapacities,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../../../client/resources.ts";
import { createScheduler } from "../../../scheduler/scheduler.ts";
import {
  passes,
  silent,
  testNode,
  testPod,
} from "../../support/control-plane.ts";
import { MemoryApi } from "../../support/memory-api.ts";

async function start() {
  const api = new MemoryApi(systemClock);
  const client = createClient(api, { clock: systemClock, logger: silent });
  const scheduler = createScheduler({
    client,
    clock: systemClock,
    logger: silent,
  });
  await scheduler.start();
  for (const name of ["n1", "n2"])
    await client.resource(nodes).create(testNode(name));
  const stop = async (): Promise<void> => {
    await scheduler.stop();
    await client.close();
  };
  return { api, client, stop };
}
let env: Awaited<ReturnType<typeof start>>;
beforeEach(async () => {
  env = await start();
});
afterEach(() => env.stop());

const podNamed = (name: string): Pod | undefined =>
  env.api.all<Pod>(pods).find(({ metadata }) => metadata.name === name);
const claimNamed = (name: string) =>
  env.client.resource(persistentVolumeClaims).get(name, "default");
const reason = (name: string) =>
  podNamed(name)?.status?.conditions?.find(
    ({ type }) => type === "PodScheduled",
  )?.message;

const waitingClass = (name: string, provisioner: string) =>
  env.client.resource(storageClasses).create({
    metadata: { name },
    provisioner,
    volumeBindingMode: "WaitForFirstConsumer",
  });

const claim = (
  name: string,
  storageClassName: string,
  extra: Partial<PersistentVolumeClaim["spec"]> = {},
) =>
  env.client.resource(persistentVolumeClaims).create({
    metadata: { name, namespace: "default" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      storageClassName,
      ...extra,
    },
  });

const using = (name: string, ...claims: string[]) =>
  env.client.resource(pods).create(
    testPod(name, {
      volumes: claims.map((claimName, index) => ({
        name: `v${index}`,
        persistentVolumeClaim: { claimName },
      })),
    }),
  );

const onNode = (name: string, node: string, storage: string) =>
  env.client.resource(persistentVolumes).create({
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage },
      storageClassName: "local",
      local: { path: `/mnt/${name}` },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                {
                  key: "kubernetes.io/hostname",
                  operator: "In",
                  values: [node],
                },
              ],
            },
          ],
        },
      },
    },
  });

/** As the controllers do. */
async function finishBinding(name: string, volumeName: string): Promise<void> {
  const found = await claimNamed(name);
  const api = env.client.resource(persistentVolumeClaims);
  const bound = await api.update({
    ...found,
    spec: { ...found.spec, volumeName },
  });
  await api.updateStatus({ ...bound, status: { phase: "Bound" } });
}

test("two claims of a pod get two volumes of one node, the smallest that fit", async () => {
  await waitingClass("local", "kubernetes.io/no-provisioner");
  await onNode("only", "n1", "1Gi");
  await onNode("large", "n2", "9Gi");
  await onNode("small", "n2", "1Gi");
  await claim("a", "local");
  await claim("b", "local", { resources: { requests: { storage: "2Gi" } } });
  await using("p", "a", "b");
  const owner = async (name: string) =>
    (await env.client.resource(persistentVolumes).get(name)).spec?.claimRef
      ?.name;
  await passes(async () => {
    expect(await owner("small")).toBe("a");
    expect(await owner("large")).toBe("b");
  });
  // The pod waits until the claims are bound.
  expect(podNamed("p")?.spec.nodeName).toBeUndefined();
  await finishBinding("a", "small");
  await finishBinding("b", "large");
  await passes(() => expect(podNamed("p")?.spec.nodeName).toBe("n2"));
  expect(await owner("only")).toBeUndefined();
});

test("of two pods for one volume the second one waits", async () => {
  await waitingClass("local", "kubernetes.io/no-provisioner");
  await claim("a", "local");
  await claim("b", "local");
  await onNode("v", "n1", "1Gi");
  await using("p", "a");
  await using("q", "b");
  await passes(() =>
    expect([reason("p"), reason("q")].filter(Boolean)).toEqual([
      expect.stringContaining(
        "node(s) didn't find available persistent volumes to bind",
      ),
    ]),
  );
});

test("the chosen node is named to the provisioner; one that gives up is asked again", async () => {
  await waitingClass("slow", "disk.example.com");
  await claim("c", "slow");
  await using("p", "c");
  const selected = async () =>
    (await claimNamed("c")).metadata.annotations?.[
      "volume.kubernetes.io/selected-node"
    ];
  await passes(async () => expect(await selected()).toMatch(/^n[12]$/));
  await env.client.resource(persistentVolumeClaims).patch("c", "default", {
    type: "merge",
    body: {
      metadata: {
        annotations: { "volume.kubernetes.io/selected-node": null },
      },
    },
  });
  await passes(() =>
    expect(reason("p")).toBe(
      'running PreBind plugin "VolumeBinding": provisioning failed for PVC "c"',
    ),
  );
  await passes(async () => expect(await selected()).toMatch(/^n[12]$/));
  const node = await selected();
  await env.client.resource(persistentVolumes).create({
    metadata: { name: "v" },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
  });
  await finishBinding("c", "v");
  await passes(() => expect(podNamed("p")?.spec.nodeName).toBe(node));
});

test("the built-in class asks for a node with a directory", async () => {
  await waitingClass("local-path", "orbit.io/local-path");
  await claim("c", "local-path");
  await using("p", "c");
  await passes(() => expect(reason("p")).toContain("2 node(s) didn't find"));
  await env.client.resource(nodes).create({
    ...testNode("n3"),
    metadata: { name: "n3", annotations: { [localPathAnnotation]: "/d" } },
  });
  await passes(async () =>
    expect(
      (await claimNamed("c")).metadata.annotations?.[
        "volume.kubernetes.io/selected-node"
      ],
    ).toBe("n3"),
  );
});

test("a driver that reports capacity gets claims where there is enough", async () => {
  await waitingClass("counted", "disk.example.com");
  await env.client.resource(csiDrivers).create({
    metadata: { name: "disk.example.com" },
    spec: { storageCapacity: true },
  });
  await claim("c", "counted");
  await using("p", "c");
  await passes(() =>
    expect(reason("p")).toContain("node(s) did not have enough free storage"),
  );
  await env.client.resource(csiStorageCapacities).create({
    metadata: { name: "k", namespace: "kube-system" },
    storageClassName: "counted",
    capacity: "1Gi",
    nodeTopology: { matchLabels: { "kubernetes.io/hostname": "n2" } },
  });
  await passes(async () =>
    expect(
      (await claimNamed("c")).metadata.annotations?.[
        "volume.kubernetes.io/selected-node"
      ],
    ).toBe("n2"),
  );
});

test("limits of CSINode, and a claim for one pod alone", async () => {
  for (const name of ["n1", "n2"])
    await env.client.resource(csiNodes).create({
      metadata: { name },
      spec: {
        drivers: [
          {
            name: "d",
            nodeID: name,
            allocatable: { count: name === "n1" ? 1 : 0 },
          },
        ],
      },
    });
  for (const name of ["a", "b"]) {
    const volume: PersistentVolume = {
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        csi: { driver: "d", volumeHandle: name },
      },
    };
    await env.client.resource(persistentVolumes).create(volume);
    await claim(name, "");
    await finishBinding(name, name);
  }
  await using("p", "a");
  await passes(() => expect(podNamed("p")?.spec.nodeName).toBe("n1"));
  await using("q", "b");
  await passes(() =>
    expect(reason("q")).toContain("2 node(s) exceed max volume count"),
  );
  // Shares the volume of p.
  await using("r", "a");
  await passes(() => expect(podNamed("r")?.spec.nodeName).toBe("n1"));
  await claim("alone", "", { accessModes: ["ReadWriteOncePod"] });
  await env.client.resource(persistentVolumes).create({
    metadata: { name: "x" },
    spec: { accessModes: ["ReadWriteOncePod"], capacity: { storage: "1Gi" } },
  });
  await finishBinding("alone", "x");
  await using("s", "alone");
  await passes(() => expect(podNamed("s")?.spec.nodeName).toBeTruthy());
  await using("t", "alone");
  await passes(() =>
    expect(reason("t")).toContain(
      "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
    ),
  );
});

// What the Node says it has and gives: the options that change it, and what is kept for system and daemons.
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { nodeStatus } from "../../../agent/node/node-object.ts";

function capacity(config: Partial<Parameters<typeof resolveAgentConfig>[0]>) {
  const facts = {
    config: resolveAgentConfig({ nodeName: "n", evictionHard: {}, ...config }),
    capacity: {
      cpus: 4,
      memoryBytes: 8 * 2 ** 30,
      storageBytes: 100 * 2 ** 30,
      hugepages: { "2Mi": 2 ** 30 },
      maxPids: 1000,
    },
    devices: { capacity: new Map(), allocatable: new Map() },
    info: {},
    addresses: [],
    images: [],
    features: { handlers: [], supplementalGroupsPolicy: false },
    problems: [],
    pressure: { memory: false, disk: false, pid: false },
    nowMs: 0,
    previous: [],
  } as unknown as Parameters<typeof nodeStatus>[0];
  const { capacity: has, allocatable } = nodeStatus(facts);
  return { has, allocatable };
}

test("as the machine is", () => {
  const { has, allocatable } = capacity({});
  expect(has).toEqual({
    cpu: "4",
    "ephemeral-storage": "104857600Ki",
    "hugepages-2Mi": "1073741824",
    memory: "8388608Ki",
    pods: "110",
  });
  expect(allocatable).toMatchObject({
    "ephemeral-storage": "107374182400",
    memory: "7340032Ki",
  });
});

test("reservations and thresholds are kept back", () => {
  const { allocatable } = capacity({
    systemReserved: { cpu: "100m", memory: "1Gi", "ephemeral-storage": "1Gi" },
    kubeReserved: { cpu: "1" },
    evictionHard: { "memory.available": "25%", "nodefs.available": "10Gi" },
  });
  expect(allocatable).toMatchObject({
    cpu: "2900m",
    memory: `${(8 - 1 - 1 - 2) * 2 ** 20}Ki`,
    "ephemeral-storage": String(89 * 2 ** 30),
  });
});

test("pods a core, as long as the node may run as many", () => {
  expect(capacity({ podsPerCore: 5 }).has!["pods"]).toBe("20");
  expect(capacity({ podsPerCore: 50 }).has!["pods"]).toBe("110");
  expect(capacity({ podsPerCore: 50, maxPods: 7 }).has!["pods"]).toBe("7");
});

test("without isolation of local storage there is none to ask for", () => {
  const { has, allocatable } = capacity({
    localStorageCapacityIsolation: false,
    systemReserved: { "ephemeral-storage": "1Gi" },
  });
  expect(has).not.toHaveProperty("ephemeral-storage");
  expect(allocatable).not.toHaveProperty("ephemeral-storage");
});

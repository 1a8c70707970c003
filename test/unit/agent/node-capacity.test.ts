// What the Node says it has and gives: the options that change it, and what is kept for system and daemons.
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  hugepageBytes,
  readHugepages,
} from "../../../agent/resources/machine/hugepages.ts";
import { nodeStatus } from "../../../agent/node/node-object.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

function capacity(
  config: Partial<Parameters<typeof resolveAgentConfig>[0]>,
  hugepages: Record<string, number> = { "2Mi": 2 ** 30 },
) {
  const facts = {
    config: resolveAgentConfig({ nodeName: "n", evictionHard: {}, ...config }),
    capacity: {
      cpus: 4,
      memoryBytes: 8 * 2 ** 30,
      storageBytes: 100 * 2 ** 30,
      hugepages,
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
    "hugepages-2Mi": "1Gi",
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

test("a threshold of nothing or of everything is none", () => {
  for (const share of ["0%", "100%"])
    expect(
      capacity({ evictionHard: { "memory.available": share } }).allocatable,
    ).toEqual(capacity({}).allocatable);
});

test("whole CPUs are no thousands of them", () => {
  const { allocatable } = capacity({ systemReserved: { cpu: "1500m" } });
  expect(allocatable!["cpu"]).toBe("2500m");
  expect(capacity({ kubeReserved: { cpu: "1" } }).allocatable!["cpu"]).toBe(
    "3",
  );
});

test("huge pages are amounts of bytes; where they take it all there is no memory, not less", () => {
  const { has, allocatable } = capacity(
    { systemReserved: { memory: "1Gi" } },
    { "1Gi": 5 * 2 ** 30, "2Mi": 3000 * 2 ** 20, "64Ki": 0 },
  );
  expect(allocatable).toMatchObject({
    "hugepages-1Gi": "5Gi",
    "hugepages-2Mi": "3000Mi",
    "hugepages-64Ki": "0",
    memory: "0Ki",
  });
  expect(has!["memory"]).toBe("8388608Ki");
});

test("huge pages of every size that a kernel has", () => {
  const root = directories();
  for (const [name, count] of [
    ["hugepages-64kB", "16\n"],
    ["hugepages-2048kB", "128\n"],
    ["hugepages-1048576kB", "2\n"],
    ["hugepages-32768kB", undefined],
  ] as const) {
    fs.mkdirSync(path.join(root, name));
    if (count) fs.writeFileSync(path.join(root, name, "nr_hugepages"), count);
  }
  expect(hugepageBytes(readHugepages(root))).toEqual({
    "64Ki": 2 ** 20,
    "2Mi": 2 ** 28,
    "32Mi": 0,
    "1Gi": 2 ** 31,
  });
  expect(readHugepages(path.join(root, "none"))).toEqual([]);
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

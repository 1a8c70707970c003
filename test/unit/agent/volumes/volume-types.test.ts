// Types of volumes that need mounts of their own, bundles of certificates, and what volumes use.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { errors } from "../../../../api/errors.ts";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import { trustAnchors } from "../../../../agent/volumes/payload/trust-bundles.ts";
import { clusterTrustBundles } from "../../../../client/resources.ts";
import { mountRemote } from "../../../../agent/volumes/files/mounts.ts";
import { emptyDirPlugin } from "../../../../agent/volumes/types/empty-dir.ts";
import { nfsPlugin } from "../../../../agent/volumes/types/nfs.ts";
import type { MountedVolume } from "../../../../agent/volumes/volume-plugin.ts";
import { VolumeStatistics } from "../../../../agent/volumes/volume-statistics.ts";
import type { Client } from "../../../../client/client.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const directories = useTempDirectories();

const asking = (...requests: Record<string, string>[]): Pod =>
  testPod({
    containers: requests.map((each, index): Container => ({
      name: `c${index}`,
      image: "x",
      resources: { requests: each },
    })),
  });

async function emptyDir(
  pod: Pod,
  source: object,
  nodeMemoryBytes = 0,
): Promise<MountedVolume> {
  const config = { rootDirectory: directories(), memoryDirectory: undefined };
  const plugin = emptyDirPlugin(config, () => nodeMemoryBytes);
  return await plugin.mount({ pod, name: "v", source: { emptyDir: source } });
}

test.each([
  ["HugePages", [{}], "there is no resource request for huge pages"],
  [
    "HugePages",
    [{ "hugepages-2Mi": "2Mi" }, { "hugepages-1Gi": "1Gi" }],
    "container requests multiple huge page sizes",
  ],
  [
    "HugePages-1Gi",
    [{ "hugepages-2Mi": "2Mi" }],
    "there is no resource request for huge pages",
  ],
  ["Disk", [{}], 'emptyDir medium "Disk" is not supported'],
] as [string, Record<string, string>[], string][])(
  "medium %s with requests %j is refused",
  async (medium, requests, text) => {
    await expect(emptyDir(asking(...requests), { medium })).rejects.toThrow(
      text,
    );
  },
);

test("huge pages of the size that containers ask for", async () => {
  const pod = asking({ "hugepages-2Mi": "2Mi" });
  const { path: where } = await emptyDir(pod, { medium: "HugePages" });
  try {
    // The type of hugetlbfs, and pages of 2 MiB.
    expect(fs.statfsSync(where)).toMatchObject({
      type: 0x958458f6,
      bsize: 2 << 20,
    });
  } finally {
    execFileSync("umount", [where]);
  }
});

test("a tmpfs without a limit takes no more than the node's memory", async () => {
  const { path: where } = await emptyDir(
    asking({}),
    { medium: "Memory" },
    64 << 20,
  );
  try {
    const { blocks, bsize } = fs.statfsSync(where);
    expect(blocks * bsize).toBe(64 << 20);
  } finally {
    execFileSync("umount", [where]);
  }
});

test.each([
  "127.0.0.1",
  "nfs-1.example.org",
  "under_score.example",
  "[fd00::1]",
  "fe80::1%eth0",
])("nfs says by name what the node lacks, server %s", async (server) => {
  const config = { rootDirectory: directories(), memoryDirectory: undefined };
  const request = {
    pod: asking({}),
    name: "v",
    source: { nfs: { server, path: "/x" } },
    persistentVolume: {
      metadata: { name: "pv" },
      spec: { mountOptions: ["retry=0", "timeo=1"] },
    },
  };
  await expect(nfsPlugin(config).mount(request)).rejects.toThrow(
    "nfs volumes need mount.nfs, which is not installed on this node",
  );
});

test.each([
  "-T/var/lib/orbit/pods/u/volumes/kubernetes.io~empty-dir/v/a",
  "-obind",
  "--bind",
  "LABEL=root",
  "a b",
  "a\nb",
  "a/b",
  "",
])("nfs: the server %j is no option of mount", async (server) => {
  const rootDirectory = directories();
  const mounting = nfsPlugin({
    rootDirectory,
    memoryDirectory: undefined,
  }).mount({
    pod: asking({}),
    name: "v",
    source: { nfs: { server, path: "/x" } },
  });
  await expect(mounting).rejects.toThrow(
    `nfs: server ${JSON.stringify(server)} is neither a host name nor an address`,
  );
});

test("a source that looks like an option is a source, and a table of its own is not read", async () => {
  const directory = directories();
  const [table, secret, target] = ["table", "secret", "target"].map((name) =>
    path.join(directory, name),
  ) as [string, string, string];
  fs.mkdirSync(secret);
  fs.mkdirSync(target);
  fs.writeFileSync(table, `${secret} ${target} none bind 0 0\n`);
  await expect(mountRemote("tmpfs", `-T${table}`, target, [])).resolves.toBe(
    undefined,
  );
  try {
    expect(fs.readFileSync("/proc/self/mountinfo", "utf8")).toContain(
      ` - tmpfs -T${table} `,
    );
  } finally {
    execFileSync("umount", [target]);
  }
});

const pem = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString("base64")}\n-----END CERTIFICATE-----\n`;

test("bundles of certificates by name, by signer and labels, each certificate once", async () => {
  const bundles = (
    [
      ["a", "s/x", "one", "two"],
      ["b", "s/x", "two", "three"],
      ["c", "s/y", "four"],
    ] as const
  ).map(([name, signerName, ...texts]) => ({
    metadata: { name, labels: { live: "yes" } },
    spec: { signerName, trustBundle: texts.map(pem).join("note\n") },
  }));
  // The kind is alpha: no catalogue of tests has it.
  const client = {
    resource: () => ({
      get: (name: string) => {
        const found = bundles.find(({ metadata }) => metadata.name === name);
        return found
          ? Promise.resolve(found)
          : Promise.reject(errors.notFound(clusterTrustBundles, name));
      },
      list: () => Promise.resolve({ items: bundles }),
    }),
  } as unknown as Client;
  const read = async (
    selection: Omit<Parameters<typeof trustAnchors>[1], "path">,
  ): Promise<string[]> =>
    (await trustAnchors(client, { path: "p", ...selection }))
      .toString()
      .split(/(?<=END CERTIFICATE-----\n)/)
      .filter(Boolean)
      .sort();
  const labelSelector = { matchLabels: { live: "yes" } };
  expect(await read({ name: "c" })).toEqual([pem("four")]);
  expect(await read({ signerName: "s/x", labelSelector })).toEqual(
    [pem("one"), pem("two"), pem("three")].sort(),
  );
  expect(await read({ name: "none", optional: true })).toEqual([]);
  await expect(read({ name: "none" })).rejects.toThrow(
    "while getting ClusterTrustBundle",
  );
  // No selector matches nothing.
  await expect(read({ signerName: "s/x" })).rejects.toThrow(
    "matched zero ClusterTrustBundles",
  );
});

test("what volumes use, read once a period; a volume that fails has none", async () => {
  const clock = new FakeClock();
  const where = directories();
  fs.writeFileSync(path.join(where, "f"), "x".repeat(10_000));
  let asked = 0;
  const reported: string[] = [];
  const mounted = new Map<string, MountedVolume>([
    ["files", { path: where, readOnly: false, usage: "directory" }],
    ["host", { path: "/", readOnly: false }],
    [
      "driver",
      {
        path: "/",
        readOnly: false,
        usage: () => {
          asked++;
          return Promise.resolve({
            usedBytes: 7,
            condition: { abnormal: true, message: "a disk is failing" },
          });
        },
      },
    ],
    [
      "broken",
      {
        path: "/",
        readOnly: false,
        usage: () => Promise.reject(new Error("no")),
      },
    ],
  ]);
  const statistics = new VolumeStatistics({
    periodMs: 60_000,
    clock,
    mounted: () => mounted,
    onAbnormal: (_pod, volume, message) =>
      reported.push(`${volume}: ${message}`),
  });
  const pod = testPod({
    volumes: [
      ...["files", "host", "broken"].map((name) => ({ name })),
      { name: "driver", persistentVolumeClaim: { claimName: "c" } },
    ],
  });
  const stats = await statistics.of(pod);
  expect(stats).toEqual([
    expect.objectContaining({
      name: "files",
      inodesUsed: 2,
      usedBytes: expect.any(Number) as number,
      capacityBytes: expect.any(Number) as number,
    }),
    expect.objectContaining({
      name: "driver",
      usedBytes: 7,
      pvcRef: { name: "c", namespace: pod.metadata.namespace },
      volumeHealthStats: { abnormal: true },
    }),
  ]);
  expect(stats[0]!["usedBytes"]).toBeGreaterThanOrEqual(10_000);
  expect(reported).toEqual(["driver: a disk is failing"]);
  await statistics.of(pod);
  expect(asked).toBe(1);
  clock.advance(60_000);
  await statistics.of(pod);
  expect(asked).toBe(2);
  const off = new VolumeStatistics({
    periodMs: 0,
    clock,
    mounted: () => mounted,
  });
  expect(await off.of(pod)).toEqual([]);
});

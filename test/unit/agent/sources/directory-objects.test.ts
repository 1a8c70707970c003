// Objects of the manifests directory of a node without an API server: rules, addresses, claims, and what comes and goes.
import { objectProblems } from "../../../../apiserver-lite/object-rules.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Service } from "../../../../api/types/core-v1.ts";
import type { OthersByFile } from "../../../../agent/sources/file-source.ts";
import { DirectoryObjects } from "../../../../agent/sources/local/directory-objects.ts";
import { checkedLocalObject } from "../../../../agent/sources/local/object-rules.ts";
import {
  assignAddresses,
  dnsServiceAddress,
} from "../../../../agent/sources/local/service-addresses.ts";
import { MemoryObjects } from "../../../../client/memory-objects.ts";
import {
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  services,
} from "../../../../client/resources.ts";

const taken = (read: AnyObject): AnyObject =>
  checkedLocalObject(read, objectProblems);
const object = (kind: string, name: string, rest: object = {}): AnyObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name },
  ...rest,
});
const service = (name: string, spec: object = {}): AnyObject =>
  object("Service", name, { spec: { ports: [{ port: 80 }], ...spec } });
const claim = (name: string, spec: object = {}): AnyObject =>
  object("PersistentVolumeClaim", name, {
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
      ...spec,
    },
  });

test.each<[string, AnyObject, string]>([
  [
    "another kind",
    object("Namespace", "x"),
    'kind: Unsupported value: "Namespace"',
  ],
  [
    "another group's Service",
    { ...service("x"), apiVersion: "serving.example.com/v1" },
    'kind: Unsupported value: "Service"',
  ],
  [
    "no name",
    { ...service(""), metadata: {} as never },
    "metadata.name: Required value",
  ],
  ["a name of a Service", service("1a"), 'metadata.name: Invalid value: "1a"'],
  [
    "a namespace",
    { ...service("a"), metadata: { name: "a", namespace: "A/b" } },
    'metadata.namespace: Invalid value: "A/b"',
  ],
  [
    "a key of a ConfigMap",
    object("ConfigMap", "c", { data: { "../x": "y" } }),
    'data[../x]: Invalid value: "../x"',
  ],
  [
    "a large Secret",
    object("Secret", "c", { stringData: { x: "é".repeat(600_000) } }),
    "data: Too long: may not be more than 1048576 bytes",
  ],
  [
    "a type that needs a controller",
    service("a", { type: "LoadBalancer" }),
    'spec.type: Unsupported value: "LoadBalancer": without an API server',
  ],
  [
    "another reclaim policy of a claim",
    {
      ...claim("c"),
      metadata: {
        name: "c",
        annotations: { "orbit.io/reclaim-policy": "Recycle" },
      },
    },
    'metadata.annotations[orbit.io/reclaim-policy]: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
  ],
  ["no ports", service("a", { ports: [] }), "spec.ports: Required value"],
  [
    "ports of one name",
    service("a", {
      ports: [
        { port: 1, name: "x" },
        { port: 2, name: "x" },
      ],
    }),
    'spec.ports[1].name: Duplicate value: "x"',
  ],
  [
    "a node port of a ClusterIP",
    service("a", { ports: [{ port: 1, nodePort: 30_000 }] }),
    "spec.ports[0].nodePort: Forbidden",
  ],
  [
    "an address that is none",
    service("a", { clusterIP: "10.0.0.300" }),
    'spec.clusterIPs[0]: Invalid value: "10.0.0.300"',
  ],
  [
    "an alias of nothing",
    service("a", { type: "ExternalName" }),
    "spec.externalName: Required value",
  ],
  [
    "another class",
    claim("c", { storageClassName: "fast" }),
    'spec.storageClassName: Unsupported value: "fast"',
  ],
  [
    "a shared volume",
    claim("c", { accessModes: ["ReadWriteMany"] }),
    'spec.accessModes: Unsupported value: "ReadWriteMany": supported values: "ReadWriteOnce", "ReadWriteOncePod"',
  ],
  [
    "a block device",
    claim("c", { volumeMode: "Block" }),
    'spec.volumeMode: Unsupported value: "Block"',
  ],
  [
    "no size",
    claim("c", { resources: {} }),
    "spec.resources[storage]: Required value",
  ],
  [
    "a given volume",
    claim("c", { volumeName: "pv" }),
    "spec.volumeName: Forbidden",
  ],
])("%s is refused by its field", (_what, refused, text) => {
  expect(() => taken(refused)).toThrow(text);
});

test("addresses follow from names, whatever the order, and given ones come first", () => {
  const of = (name: string, spec: object = {}): Service =>
    taken(service(name, spec)) as unknown as Service;
  const ranges = ["10.43.0.0/16"];
  const both = [of("a"), of("b", { type: "NodePort" })];
  const [a, b] = assignAddresses(both, ranges);
  const [b2, a2] = assignAddresses([...both].reverse(), ranges);
  expect([a, b]).toEqual([a2, b2]);
  const address = (a as { service: Service }).service.spec.clusterIP!;
  expect(address).toMatch(/^10\.43\./);
  // The one that asks for it has it; the other gives way.
  const [moved, given] = assignAddresses(
    [of("a"), of("z", { clusterIP: address })],
    ranges,
  );
  expect((given as { service: Service }).service.spec.clusterIP).toBe(address);
  expect((moved as { service: Service }).service.spec.clusterIP).not.toBe(
    address,
  );
  const port = (b as { service: Service }).service.spec.ports![0]!.nodePort!;
  expect(port).toBeGreaterThanOrEqual(30_000);
  expect(
    assignAddresses(
      [
        of("x", { type: "NodePort", ports: [{ port: 1, nodePort: port }] }),
        of("y", { type: "NodePort", ports: [{ port: 1, nodePort: port }] }),
        of("out", { clusterIP: "10.99.0.1" }),
        of("dns", { clusterIP: dnsServiceAddress(ranges) }),
        of("six", { ipFamilies: ["IPv6"] }),
        of("none", { clusterIP: "None" }),
      ],
      ranges,
    ).map((each) =>
      "problem" in each ? each.problem.field : each.service.spec.clusterIP,
    ),
  ).toEqual([
    expect.stringMatching(/^10\.43\./),
    "spec.ports[0].nodePort",
    "spec.clusterIP",
    "spec.clusterIP",
    "spec.ipFamilies[0]",
    "None",
  ]);
});

test("a small range is given out whole and no further", () => {
  const all = Array.from(
    { length: 7 },
    (_, n) => taken(service(`s${n}`)) as unknown as Service,
  );
  const found = assignAddresses(all, ["10.9.9.0/29"]).map((each) =>
    "problem" in each ? each.problem.detail : each.service.spec.clusterIP,
  );
  expect(new Set(found.slice(0, 6)).size).toBe(6);
  expect(found[6]).toMatch(/range is full/);
});

describe("the directory's objects in memory", () => {
  let objects: MemoryObjects;
  let directory: DirectoryObjects;
  let problems: string[];
  const files = (byFile: Record<string, AnyObject[]>): OthersByFile =>
    new Map(
      Object.entries(byFile).map(([file, all]) => [
        file,
        all.map((each) => ({
          object: taken(each),
          place: ({ message }: Error) => `${file}:1: ${message}`,
        })),
      ]),
    );
  beforeEach(() => {
    problems = [];
    objects = new MemoryObjects();
    directory = new DirectoryObjects({
      objects,
      volumesRoot: "/root/local-path",
      serviceRanges: ["10.43.0.0/16"],
      onProblem: (_file, text) => problems.push(text),
    });
  });

  test("a claim is bound to a directory that it has again after a restart", async () => {
    directory.set(files({ "a.yaml": [claim("data")] }));
    const bound = objects
      .cache<AnyObject & { spec: { volumeName: string } }>(
        persistentVolumeClaims,
      )
      .lister.get("data", "default")!;
    const { volumeName } = bound.spec;
    expect(
      await objects.request({
        verb: "get",
        resource: persistentVolumes,
        name: volumeName,
      }),
    ).toMatchObject({
      spec: {
        claimRef: { uid: bound.metadata.uid },
        local: { path: `/root/local-path/${volumeName}` },
      },
    });
    const again = new MemoryObjects();
    new DirectoryObjects({
      objects: again,
      volumesRoot: "/root/local-path",
      serviceRanges: [],
      onProblem: () => undefined,
    }).set(files({ "b.yaml": [claim("data")] }));
    expect(again.cache(persistentVolumes).lister.get(volumeName)).toBeDefined();
  });

  test.each([
    [undefined, "Retain"],
    ["Retain", "Retain"],
    ["Delete", "Delete"],
  ])("a claim's reclaim policy %s is its volume's: %s", (asked, policy) => {
    const kept = claim("data");
    if (asked) kept.metadata.annotations = { "orbit.io/reclaim-policy": asked };
    directory.set(files({ a: [taken(kept)] }));
    expect(objects.cache(persistentVolumes).lister.list()).toMatchObject([
      { spec: { persistentVolumeReclaimPolicy: policy } },
    ]);
  });

  test("what changes is delivered, what stays is not, and what is gone goes", () => {
    const said: string[] = [];
    for (const ref of [configMaps, services])
      objects.cache<AnyObject>(ref).subscribe({
        onAdd: ({ metadata }) => said.push(`+${metadata.name}`),
        onUpdate: (_, { metadata }) => said.push(`~${metadata.name}`),
        onDelete: ({ metadata }) => said.push(`-${metadata.name}`),
      });
    const map = (value: string): AnyObject =>
      object("ConfigMap", "m", { data: { value } });
    directory.set(files({ a: [map("1")], b: [service("s")] }));
    directory.set(files({ a: [map("2")], b: [service("s")] }));
    directory.set(files({ a: [map("2")] }));
    expect(said).toEqual(["+m", "+s", "~m", "-s"]);
    expect(problems).toEqual([]);
  });

  test("of two of one name the first stays; both problems have their place, once", () => {
    directory.set(files({ b: [service("s")] }));
    const two = {
      a: [service("s", { clusterIP: "None" })],
      b: [service("s")],
      c: [service("t", { clusterIP: "10.1.1.1" })],
    };
    directory.set(files(two));
    directory.set(files(two));
    expect(
      objects.cache<AnyObject & Service>(services).lister.get("s", "default")!
        .spec.clusterIP,
    ).not.toBe("None");
    expect(problems).toEqual([
      'a:1: metadata.name: Duplicate value: "s": already used by b',
      expect.stringMatching(
        /^c:1: spec\.clusterIP: Invalid value: "10\.1\.1\.1"/,
      ),
    ]);
  });
});

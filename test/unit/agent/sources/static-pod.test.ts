// Names of a manifest that become names of directories: what would lead elsewhere is refused with its field, all at once.
import { objectProblems } from "../../../../apiserver-lite/object-rules.ts";
import { staticPod } from "../../../../agent/sources/static-pod.ts";
import { FieldProblems } from "../../../../agent/sources/manifest-reader.ts";
import type { Pod } from "../../../../api/types/core-v1.ts";

const made = (
  metadata: Partial<Pod["metadata"]>,
  container = "main",
  volume = "data",
  spec: Partial<Pod["spec"]> = {},
): Pod =>
  staticPod(
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web", ...metadata },
      spec: {
        containers: [{ name: container, image: "i" }],
        volumes: [{ name: volume, emptyDir: {} }],
        ...spec,
      },
    },
    {
      nodeName: "n",
      source: "file",
      origin: "web.yaml",
      nowMs: 0,
      podLevelResources: false,
      rules: objectProblems,
    },
  );

const refusedFields = (make: () => Pod): string[] => {
  try {
    make();
  } catch (error) {
    if (error instanceof FieldProblems)
      return error.problems.map(({ field }) => field);
    throw error;
  }
  return [];
};

test.each(["3f6c1e9e-8f0a-4b52-9c4f-0f6a2f0b7c11", "web_1.2", "7"])(
  "the uid %s is kept",
  (uid) => {
    expect(made({ uid, namespace: "shop" }).metadata).toMatchObject({
      uid,
      namespace: "shop",
    });
  },
);

test.each(["../../../etc", "..", ".", "a/b", "/etc", "a\nb", "x".repeat(200)])(
  "the uid %j is none",
  (uid) => {
    expect(refusedFields(() => made({ uid }))).toEqual(["metadata.uid"]);
  },
);

test("namespaces, containers and volumes have names that are no paths", () => {
  expect(
    refusedFields(() => made({ namespace: "../../etc" }, "../main", "../data")),
  ).toEqual([
    "metadata.namespace",
    "spec.volumes[0].name",
    "spec.containers[0].name",
  ]);
});

test.each<[Partial<Pod["spec"]>, string]>([
  [
    { resourceClaims: [{ name: "gpu", resourceClaimName: "gpu" }] },
    "spec.resourceClaims",
  ],
  [
    {
      volumes: [
        {
          name: "v",
          projected: {
            sources: [{ clusterTrustBundle: { name: "b", path: "ca" } }],
          },
        },
      ],
    },
    "spec.volumes[0].projected",
  ],
  [
    { ephemeralContainers: [{ name: "debug", image: "i" }] },
    "spec.ephemeralContainers",
  ],
  [{ schedulingGates: [{ name: "g" }] }, "spec.nodeName"],
])("a static pod can't have %j", (spec, field) => {
  expect(refusedFields(() => made({}, "main", "data", spec))).toEqual([field]);
});

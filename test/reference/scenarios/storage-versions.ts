// What an API server says of the versions in which it stores its resources.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const path = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";

export const storageVersions: Scenario = {
  name: "storage-versions",
  options: [
    "--runtime-config=internal.apiserver.k8s.io/v1alpha1=true",
    "--feature-gates=StorageVersionAPI=true",
  ],
  async run({ call }) {
    await call("all", "GET", path, {
      keep: ({ items }: Json) =>
        Object.fromEntries(
          items.map(({ metadata, status }: Json) => {
            const { storageVersions, commonEncodingVersion, conditions } =
              status;
            return [
              metadata.name,
              {
                commonEncodingVersion,
                servers: storageVersions.map(
                  ({ apiServerID, ...versions }: Json) => ({
                    ...versions,
                    apiServerID: /^apiserver-[a-z2-7]{26}$/.test(apiServerID),
                  }),
                ),
                conditions: conditions.map(
                  ({ lastTransitionTime: _, ...condition }: Json) => condition,
                ),
              },
            ];
          }),
        ),
    });
    const name = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    await call("the server's lease", "GET", name, {
      keep: ({ items }: Json) =>
        items.map(({ metadata, spec }: Json) => ({
          name: metadata.name.replace(/-[a-z2-7]{26}$/, ""),
          labels: Object.keys(metadata.labels),
          identity: metadata.labels["apiserver.kubernetes.io/identity"],
          seconds: spec.leaseDurationSeconds,
          isHolder: spec.holderIdentity.startsWith(`${metadata.name}_`),
        })),
    });
  },
};

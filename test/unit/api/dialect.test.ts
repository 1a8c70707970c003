import {
  aliasDocument,
  canonicaliseDocument,
  canonicalOption,
  mediaTypeIn,
  mentionsAlias,
  normaliseApiVersion,
  normaliseGroup,
  normaliseMediaType,
  optionAliases,
} from "../../../api/dialect.ts";
import { schemaFor } from "../../../api/schema.ts";

test.each([
  ["rbac.authorization.orbit.io", "rbac.authorization.k8s.io"],
  ["apps", "apps"],
  ["", ""],
  ["orbit.io", "orbit.io"],
  ["example.com", "example.com"],
])("group %s", (given, expected) => {
  expect(normaliseGroup(given)).toBe(expected);
});

test.each([
  [
    "application/vnd.orbit.protobuf",
    "application/vnd.kubernetes.protobuf",
    "specification",
  ],
  [
    "application/json;as=Table;g=meta.orbit.io;v=v1, application/json",
    "application/json;as=Table;g=meta.k8s.io;v=v1, application/json",
    "specification",
  ],
  ["application/json", "application/json", "ecosystem"],
])("media type %s", (given, mediaType, dialect) => {
  expect(normaliseMediaType(given)).toEqual({ mediaType, dialect });
  if (dialect === "specification")
    expect(mediaTypeIn("specification", mediaType)).toBe(given);
});

test("documents in both directions", () => {
  const alias = {
    apiVersion: "rbac.authorization.orbit.io/v1",
    kind: "ClusterRole",
    metadata: { annotations: { apiVersion: "x.orbit.io/v1" } },
    rules: [
      { apiGroups: ["", "storage.orbit.io"], resources: ["*"], verbs: ["get"] },
    ],
    roleRef: { apiGroup: "rbac.authorization.orbit.io" },
    spec: { resourceAttributes: { group: "storage.orbit.io" } },
  };
  const canonical = canonicaliseDocument(structuredClone(alias));
  expect(canonical).toEqual({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { annotations: { apiVersion: "x.orbit.io/v1" } },
    rules: [
      { apiGroups: ["", "storage.k8s.io"], resources: ["*"], verbs: ["get"] },
    ],
    roleRef: { apiGroup: "rbac.authorization.k8s.io" },
    spec: { resourceAttributes: { group: "storage.k8s.io" } },
  });
  expect(aliasDocument(canonical)).toEqual(alias);
  expect(mentionsAlias(Buffer.from(JSON.stringify(alias)))).toBe(true);
  expect(normaliseApiVersion("v1")).toBe("v1");
  expect(schemaFor("storage.orbit.io", "v1", "StorageClass")).toBe(
    schemaFor("storage.k8s.io", "v1", "StorageClass"),
  );
});

test.each([
  ["orbit-api-qps", "kube-api-qps"],
  ["orbitlet-timeout", "kubelet-timeout"],
  ["orbitconfig", "kubeconfig"],
  ["bootstrap-kubeconfig", "bootstrap-kubeconfig"],
  ["store-prefix", "etcd-prefix"],
  ["orbit-reserved-cgroup", "kube-reserved-cgroup"],
  ["secure-port", "secure-port"],
])("option %s", (given, expected) => {
  expect(canonicalOption(given)).toBe(expected);
  expect(optionAliases(expected)).toContain(given);
});

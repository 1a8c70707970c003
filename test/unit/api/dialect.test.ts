import {
  aliasDocument,
  canonicaliseDocument,
  mentionsAlias,
  normaliseApiVersion,
  normaliseGroup,
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

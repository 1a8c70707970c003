// What an access review may not ask: the reference's causes.
import {
  refuseBadReview,
  type ReviewKind,
  type ReviewSpec,
} from "../../../../apiserver-lite/authorization/review-validation.ts";
import type { AnyObject } from "../../../../api/object.ts";

const pods = { verb: "get", resource: "pods", namespace: "a" };

function causes(
  kind: ReviewKind,
  spec: ReviewSpec,
  metadata: Record<string, unknown> = {},
): string[] {
  const object = { apiVersion: "authorization.k8s.io/v1", kind, metadata };
  try {
    refuseBadReview(kind, spec, object as unknown as AnyObject);
    return [];
  } catch (error) {
    const { details } = (error as { status: { details: unknown } }).status as {
      details: { causes: { field: string; message: string }[] };
    };
    return details.causes.map(({ field, message }) => `${field}: ${message}`);
  }
}

test("metadata is empty but for what the server writes", () => {
  const self = (metadata: object): string[] =>
    causes(
      "SelfSubjectAccessReview",
      { resourceAttributes: pods },
      { ...metadata },
    );
  expect(self({})).toEqual([]);
  expect(self({ managedFields: [{ manager: "m" }], labels: {} })).toEqual([]);
  expect(self({ name: "x" })).toEqual([
    expect.stringMatching(
      /^metadata: Invalid value: v1\.ObjectMeta\{Name:"x", .*\}: must be empty$/,
    ),
  ]);
  expect(self({ namespace: "a" })).toHaveLength(1);
  expect(self({ labels: { a: "b" } })).toHaveLength(1);
});

test("a local review has its namespace, twice the same", () => {
  const local = (namespace: string, metadata: object): string[] =>
    causes(
      "LocalSubjectAccessReview",
      { user: "u", resourceAttributes: { ...pods, namespace } },
      { ...metadata },
    );
  expect(local("a", { namespace: "a" })).toEqual([]);
  expect(local("b", { namespace: "a" })).toEqual([
    'spec.resourceAttributes.namespace: Invalid value: "b": must match metadata.namespace',
  ]);
  expect(local("a", { namespace: "a", name: "x" })).toEqual([
    expect.stringMatching(/: must be empty except for namespace$/),
  ]);
});

test("selectors say one thing, with operators that newer clients may know", () => {
  const asked = (selector: object): string[] =>
    causes("SelfSubjectAccessReview", {
      resourceAttributes: { ...pods, ...selector },
    });
  const field = "spec.resourceAttributes.fieldSelector";
  const label = "spec.resourceAttributes.labelSelector";
  expect(asked({ fieldSelector: {} })).toEqual([
    `${field}.requirements: Required value: when ${field} is specified, requirements or rawSelector is required`,
  ]);
  const requirement = (key: string, operator: string, ...values: string[]) => ({
    requirements: [{ key, operator, values }],
  });
  expect(asked({ fieldSelector: requirement("", "In") })).toEqual([
    `${field}.requirements[0].key: Required value: must be specified`,
    `${field}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ]);
  expect(asked({ fieldSelector: requirement("a", "Newer", "!") })).toEqual([]);
  expect(asked({ labelSelector: requirement("a", "Exists", "b") })).toEqual([
    `${label}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
  ]);
  expect(asked({ labelSelector: requirement("a", "Newer", "!") })).toEqual([
    expect.stringMatching(/requirements\[0\]\.values\[0\]: Invalid value: "!"/),
  ]);
  expect(
    asked({
      labelSelector: { rawSelector: "a", ...requirement("a", "Exists") },
    }),
  ).toEqual([
    `${label}.rawSelector: Invalid value: "a": may not specified at the same time as requirements`,
  ]);
});

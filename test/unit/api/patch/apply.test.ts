import fc from "fast-check";
import { applyDefaults } from "../../../../api/defaults.ts";
import { ApiError } from "../../../../api/errors.ts";
import { parseApiVersion, type AnyObject } from "../../../../api/object.ts";
import {
  applyPatch as applySteps,
  updateManagedFields as updateSteps,
  type FieldManagement,
} from "../../../../api/patch/apply.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import { schemaFor } from "../../../../api/schema.ts";

const updateManagedFields = (...given: Parameters<typeof updateSteps>): void =>
  finish(updateSteps(...given));
const applyPatch = (...given: Parameters<typeof applySteps>): AnyObject =>
  finish(applySteps(...given));

const t0 = Date.UTC(2025, 0, 1);
const time = (seconds: number): string =>
  new Date(t0 + seconds * 1000).toISOString().replace(".000Z", "Z");

function management(
  kind: string,
  manager: string,
  seconds = 0,
  extra: Partial<FieldManagement> = {},
): FieldManagement {
  const apiVersion = kind === "Deployment" ? "apps/v1" : "v1";
  return {
    manager,
    apiVersion,
    subresource: "",
    nowMs: t0 + seconds * 1000,
    schema: schemaFor(
      ...(Object.values(parseApiVersion(apiVersion)) as [string, string]),
      kind,
    ),
    resetPaths: kind === "ConfigMap" ? [] : [["status"]],
    ...extra,
  };
}
const configMap = (data: object, metadata: object = {}): AnyObject =>
  ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "c", namespace: "d", ...metadata },
    data,
  }) as unknown as AnyObject;
const deployment = (spec: object): AnyObject =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d", namespace: "d" },
    spec,
  }) as unknown as AnyObject;

function created(object: AnyObject, manager = "kubectl-create"): AnyObject {
  applyDefaults(object, {
    ...parseApiVersion(object.apiVersion!),
    kind: object.kind!,
  });
  updateManagedFields(undefined, object, management(object.kind!, manager));
  return object;
}
const apply = (
  live: AnyObject | undefined,
  config: AnyObject,
  manager: string,
  seconds = 1,
  force = false,
): AnyObject =>
  applyPatch(live, config, {
    ...management(config.kind!, manager, seconds),
    force,
  });
const fieldsOf = (object: AnyObject, manager: string): unknown =>
  object.metadata.managedFields?.find((entry) => entry.manager === manager)
    ?.fieldsV1;
function conflictOf(run: () => unknown): ApiError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  }
  throw new Error("did not throw");
}

test("a created deployment is owned as the reference records it", () => {
  const object = created(
    deployment({
      selector: { matchLabels: { app: "x" } },
      template: {
        metadata: { labels: { app: "x" } },
        spec: {
          containers: [
            { name: "c", image: "i", ports: [{ containerPort: 80 }] },
          ],
        },
      },
    }),
  );
  const entry = object.metadata.managedFields![0]!;
  expect(entry).toMatchObject({
    manager: "kubectl-create",
    operation: "Update",
    apiVersion: "apps/v1",
    time: time(0),
    fieldsType: "FieldsV1",
  });
  expect(entry.fieldsV1).toEqual({
    "f:spec": {
      "f:progressDeadlineSeconds": {},
      "f:replicas": {},
      "f:revisionHistoryLimit": {},
      "f:selector": {},
      "f:strategy": {
        "f:rollingUpdate": {
          ".": {},
          "f:maxSurge": {},
          "f:maxUnavailable": {},
        },
        "f:type": {},
      },
      "f:template": {
        "f:metadata": { "f:labels": { ".": {}, "f:app": {} } },
        "f:spec": {
          "f:containers": {
            'k:{"name":"c"}': {
              ".": {},
              "f:image": {},
              "f:imagePullPolicy": {},
              "f:name": {},
              "f:ports": {
                ".": {},
                'k:{"containerPort":80,"protocol":"TCP"}': {
                  ".": {},
                  "f:containerPort": {},
                  "f:protocol": {},
                },
              },
              "f:resources": {},
              "f:terminationMessagePath": {},
              "f:terminationMessagePolicy": {},
            },
          },
          "f:dnsPolicy": {},
          "f:restartPolicy": {},
          "f:schedulerName": {},
          "f:securityContext": {},
          "f:terminationGracePeriodSeconds": {},
        },
      },
    },
  });
});

describe("updates", () => {
  test("take what they change, leave the rest, keep times without a change", () => {
    const live = created(configMap({ a: "1", b: "1" }));
    const same = structuredClone(live);
    updateManagedFields(live, same, management("ConfigMap", "other", 9));
    expect(same.metadata.managedFields).toEqual(live.metadata.managedFields);

    const object = { ...structuredClone(live), data: { a: "2", b: "1" } };
    updateManagedFields(live, object, management("ConfigMap", "other", 9));
    expect(fieldsOf(object, "kubectl-create")).toEqual({
      "f:data": { ".": {}, "f:b": {} },
    });
    expect(fieldsOf(object, "other")).toEqual({ "f:data": { "f:a": {} } });
    expect(object.metadata.managedFields!.map((entry) => entry.time)).toEqual([
      time(0),
      time(9),
    ]);
  });
  test("removal takes from everybody", () => {
    const live = created(configMap({ a: "1", b: "1" }));
    const object = { ...structuredClone(live), data: { b: "1" } };
    updateManagedFields(live, object, management("ConfigMap", "other", 9));
    expect(object.metadata.managedFields).toHaveLength(1);
    expect(fieldsOf(object, "kubectl-create")).toEqual({
      "f:data": { ".": {}, "f:b": {} },
    });
  });
  test("a client that knows no managedFields can't drop them", () => {
    const live = created(configMap({ a: "1" }));
    const object = { ...structuredClone(live), data: { a: "2" } };
    delete object.metadata.managedFields;
    updateManagedFields(
      live,
      object,
      management("ConfigMap", "kubectl-create", 5),
    );
    expect(object.metadata.managedFields).toEqual([
      { ...live.metadata.managedFields![0]!, time: time(5) },
    ]);
  });
  test("[{}] resets, and an untracked object stays so", () => {
    const live = created(configMap({ a: "1" }));
    const object = structuredClone(live);
    object.metadata.managedFields = [{}] as never;
    updateManagedFields(live, object, management("ConfigMap", "x", 5));
    expect(object.metadata.managedFields).toBeUndefined();
    const next = { ...structuredClone(object), data: { a: "3" } };
    updateManagedFields(object, next, management("ConfigMap", "x", 6));
    expect(next.metadata.managedFields).toBeUndefined();
  });
  test("status belongs to the status subresource", () => {
    const live = created(
      deployment({ selector: {}, template: { spec: { containers: [] } } }),
    );
    const object = {
      ...structuredClone(live),
      status: {
        replicas: 1,
        conditions: [{ type: "Available", status: "True" }],
      },
    };
    updateManagedFields(
      live,
      object,
      management("Deployment", "controller", 3, {
        subresource: "status",
        resetPaths: [["spec"]],
      }),
    );
    const entry = object.metadata.managedFields!.find(
      ({ manager }) => manager === "controller",
    )!;
    expect(entry.subresource).toBe("status");
    expect(entry.fieldsV1).toEqual({
      "f:status": {
        "f:conditions": {
          ".": {},
          // Times that are not set are null, and fields all the same.
          'k:{"type":"Available"}': {
            ".": {},
            "f:lastTransitionTime": {},
            "f:lastUpdateTime": {},
            "f:status": {},
            "f:type": {},
          },
        },
        "f:replicas": {},
      },
    });
  });
  test("more than ten updaters become ancient", () => {
    let live = created(configMap({}), "m0");
    for (let index = 0; index < 14; index++) {
      const object = {
        ...structuredClone(live),
        data: { ...(live["data"] as object), [`k${index}`]: "x" },
      };
      updateManagedFields(
        live,
        object,
        management("ConfigMap", `m${index}`, index),
      );
      live = object;
    }
    expect(live.metadata.managedFields!.length).toBeLessThanOrEqual(10);
    expect(
      live.metadata.managedFields!.some(
        ({ manager }) => manager === "ancient-changes",
      ),
    ).toBe(true);
  });
});

describe("apply", () => {
  test("creates", () => {
    const object = apply(
      undefined,
      configMap({ a: "1" }, { labels: { x: "y" } }),
      "me",
    );
    expect(object["data"]).toEqual({ a: "1" });
    expect(object.metadata.managedFields).toEqual([
      {
        manager: "me",
        operation: "Apply",
        apiVersion: "v1",
        time: time(1),
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:data": { "f:a": {} },
          "f:metadata": { "f:labels": { "f:x": {} } },
        },
      },
    ]);
  });
  test("again without a change keeps the time", () => {
    const first = apply(undefined, configMap({ a: "1" }), "me", 1);
    expect(apply(first, configMap({ a: "1" }), "me", 50)).toEqual(first);
  });
  test("removes what is no longer applied, but not what others own", () => {
    const first = apply(
      undefined,
      configMap({ a: "1", b: "1", c: "1" }),
      "me",
      1,
    );
    const shared = apply(first, configMap({ b: "1" }), "you", 2);
    const after = apply(shared, configMap({ c: "1" }), "me", 3);
    expect(after["data"]).toEqual({ b: "1", c: "1" });
    expect(fieldsOf(after, "me")).toEqual({ "f:data": { "f:c": {} } });
    expect(fieldsOf(after, "you")).toEqual({ "f:data": { "f:b": {} } });
  });
  test("conflicts name manager and field, force takes over", () => {
    const first = apply(undefined, configMap({ a: "1", b: "1" }), "me", 1);
    const one = conflictOf(() => apply(first, configMap({ a: "2" }), "you", 2));
    expect(one.code).toBe(409);
    expect(one.message).toBe(
      'Apply failed with 1 conflict: conflict with "me": .data.a',
    );
    expect(one.status.details?.causes).toEqual([
      {
        reason: "FieldManagerConflict",
        message: 'conflict with "me"',
        field: ".data.a",
      },
    ]);
    const two = conflictOf(() =>
      apply(first, configMap({ a: "2", b: "2" }), "you", 2),
    );
    expect(two.message).toBe(
      'Apply failed with 2 conflicts: conflicts with "me":\n- .data.a\n- .data.b',
    );
    const forced = apply(first, configMap({ a: "2" }), "you", 2, true);
    expect(forced["data"]).toEqual({ a: "2", b: "1" });
    expect(fieldsOf(forced, "me")).toEqual({ "f:data": { "f:b": {} } });
  });
  test("an updater's conflict names its version", () => {
    const live = created(configMap({ a: "1" }), "kubectl-create");
    expect(
      conflictOf(() => apply(live, configMap({ a: "2" }), "you")).message,
    ).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-create" using v1: .data.a',
    );
  });
  test("equal values are shared", () => {
    const live = created(configMap({ a: "1" }), "kubectl-create");
    const object = apply(live, configMap({ a: "1" }), "you");
    expect(
      object.metadata.managedFields!.map(({ manager }) => manager),
    ).toEqual(["you", "kubectl-create"]);
  });
  test("lists by keys: items come, change and go with what was defaulted in them", () => {
    const withContainers = (...containers: object[]) =>
      deployment({
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers } },
      });
    const first = apply(
      undefined,
      withContainers(
        { name: "a", image: "1" },
        { name: "b", image: "1", livenessProbe: { httpGet: { port: 1 } } },
      ),
      "me",
      1,
    );
    applyDefaults(first, { group: "apps", version: "v1", kind: "Deployment" });
    const other = apply(
      first,
      withContainers({ name: "side", image: "s" }),
      "you",
      2,
    );
    type Named = { name: string; image: string; livenessProbe?: object }[];
    const names = (object: AnyObject) =>
      (
        object as unknown as {
          spec: { template: { spec: { containers: Named } } };
        }
      ).spec.template.spec.containers;
    expect(names(other).map(({ name }) => name)).toEqual(["a", "b", "side"]);
    const after = apply(
      other,
      withContainers({ name: "b", image: "2" }),
      "me",
      3,
    );
    expect(names(after).map(({ name }) => name)).toEqual(["b", "side"]);
    expect(names(after)[0]).toMatchObject({ image: "2" });
    expect(names(after)[0]!.livenessProbe).toBeUndefined();
  });
  test("ports have two keys, one with a default", () => {
    const ports = (...list: object[]) =>
      deployment({
        selector: {},
        template: { spec: { containers: [{ name: "c", ports: list }] } },
      });
    const object = apply(
      undefined,
      ports({ containerPort: 53 }, { containerPort: 53, protocol: "UDP" }),
      "me",
    );
    expect(JSON.stringify(fieldsOf(object, "me"))).toContain(
      '"k:{\\"containerPort\\":53,\\"protocol\\":\\"UDP\\"}"',
    );
    const twice = conflictOf(() =>
      apply(
        undefined,
        ports({ containerPort: 53 }, { containerPort: 53, protocol: "TCP" }),
        "me",
      ),
    );
    expect([twice.code, twice.message]).toEqual([
      400,
      expect.stringContaining("duplicate entries for key"),
    ]);
    // A key that is always written is empty when it is not given.
    const nameless = apply(
      undefined,
      deployment({ template: { spec: { containers: [{ image: "x" }] } } }),
      "me",
    );
    expect(JSON.stringify(fieldsOf(nameless, "me"))).toContain(
      '"k:{\\"name\\":\\"\\"}"',
    );
  });
  test("sets and atomic lists", () => {
    const first = apply(
      undefined,
      configMap({}, { finalizers: ["a.b/c", "a.b/d"] }),
      "me",
      1,
    );
    const both = apply(
      first,
      configMap({}, { finalizers: ["a.b/e"] }),
      "you",
      2,
    );
    expect(both.metadata.finalizers).toEqual(["a.b/c", "a.b/d", "a.b/e"]);
    const less = apply(both, configMap({}, { finalizers: ["a.b/d"] }), "me", 3);
    expect(less.metadata.finalizers).toEqual(["a.b/d", "a.b/e"]);
  });
  test("an untracked object belongs to before-first-apply", () => {
    const object = apply(
      configMap({ a: "1", b: "1" }),
      configMap({ a: "1" }),
      "me",
    );
    expect(
      object.metadata.managedFields!.map(({ manager }) => manager),
    ).toEqual(["me", "before-first-apply"]);
    expect(object["data"]).toEqual({ a: "1", b: "1" });
  });
  test("kubectl takes over what client-side apply set", () => {
    const annotations = {
      "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(
        configMap({ a: "1" }),
      ),
    };
    const live = created(
      configMap({ a: "1", b: "1" }, { annotations }),
      "kubectl-client-side-apply",
    );
    const object = apply(live, configMap({ a: "2" }), "kubectl");
    expect(object["data"]).toEqual({ a: "2", b: "1" });
    expect(
      object.metadata.annotations![
        "kubectl.kubernetes.io/last-applied-configuration"
      ],
    ).toContain('"a":"2"');
    expect(
      conflictOf(() => apply(live, configMap({ b: "2" }), "kubectl")).code,
    ).toBe(409);
    expect(
      conflictOf(() => apply(live, configMap({ a: "2" }), "somebody")).code,
    ).toBe(409);
  });
  test("managedFields in the configuration are refused", () => {
    expect(
      conflictOf(() =>
        apply(
          undefined,
          configMap({}, { managedFields: [{ manager: "x" }] }),
          "me",
        ),
      ).message,
    ).toBe("metadata.managedFields must be nil");
  });
  test("neither argument is changed", () => {
    const live = apply(undefined, configMap({ a: "1" }), "me");
    const config = configMap({ a: "2" });
    const before = JSON.stringify([live, config]);
    apply(live, config, "me", 5);
    expect(JSON.stringify([live, config])).toBe(before);
  });
});

test("applying anything twice is applying it once, and hostile managedFields do no harm", () => {
  const data = fc.dictionary(
    fc.constantFrom("a", "b", "__proto__", "constructor"),
    fc.string({ maxLength: 3 }),
  );
  fc.assert(
    fc.property(
      data,
      data,
      fc.jsonValue({ maxDepth: 3 }),
      (first, second, rubbish) => {
        const live = apply(
          created(configMap(first)),
          configMap(second),
          "me",
          1,
          true,
        );
        expect(apply(live, configMap(second), "me", 2)).toEqual(live);
        const spoiled = structuredClone(live);
        spoiled.metadata.managedFields = [
          {
            manager: "x",
            operation: "Update",
            fieldsType: "FieldsV1",
            fieldsV1: rubbish,
          },
        ] as never;
        apply(spoiled, configMap(second), "me", 3, true);
      },
    ),
    { seed: 11, numRuns: 200 },
  );
});

// Several mutations and policies, what chooses them, and what becomes of their failures.
import { applied, gadget, patched, type Case } from "./case.ts";

const put = (key: string, value: string): object =>
  applied(`Object{data: {"${key}": ${value}}}`);
const add = (key: string, value: string): object =>
  patched(`[JSONPatch{op: "add", path: "/data/${key}", value: ${value}}]`);
const failing = put("x", "object.data.none");
const broken = add("none/x", '"1"');
const data = { data: { a: "1" } };
const seen = (key: string): string =>
  `string(size(object.data)) + string(object.data.a) + "${key}"`;

const params = {
  paramKind: { apiVersion: "v1", kind: "ConfigMap" },
  mutations: [
    put("max", "params.data.max"),
    put("none", "string(params == null)"),
  ],
};
const bound = (paramRef: object): object => ({ paramRef });

const single = (
  spec: Readonly<Record<string, unknown>>,
  binding?: object,
): Case => ({
  policies: { p: { spec, ...(binding ? { binding } : {}) } },
  object: data,
});

export const compositions: Readonly<Record<string, Case>> = {
  "several mutations": single({
    mutations: [put("b", seen("!")), add("c", seen("?")), put("d", seen("."))],
  }),
  "a failing mutation between others": single({
    mutations: [put("b", "'2'"), failing, put("c", "'3'"), broken],
  }),
  "failures ignored": single({
    failurePolicy: "Ignore",
    mutations: [put("b", "'2'"), failing, put("c", "'3'"), broken],
  }),
  "an undecodable result ignored": single({
    failurePolicy: "Ignore",
    mutations: [patched('[JSONPatch{op: "add", path: "/data", value: 1}]')],
  }),
  "an unknown field ignored": single({
    failurePolicy: "Ignore",
    mutations: [put("a", "1")],
  }),
  variables: single({
    variables: [
      { name: "one", expression: "object.data.a" },
      { name: "two", expression: "variables.one + '2'" },
      { name: "unused", expression: "object.data.none" },
    ],
    mutations: [
      put("b", "variables.two"),
      put("a", "'9'"),
      put("c", "variables.two"),
    ],
  }),
  "a failing variable": single({
    variables: [{ name: "v", expression: "object.data.none" }],
    mutations: [put("b", "variables.v")],
  }),
  "a variable of an object": single({
    variables: [{ name: "v", expression: "object.data" }],
    mutations: [applied("Object{data: variables.v}")],
  }),
  "conditions that hold": single({
    matchConditions: [{ name: "c", expression: "object.data.a == '1'" }],
    mutations: [put("b", "'2'")],
  }),
  "a condition that does not hold": single({
    matchConditions: [{ name: "c", expression: "object.data.a == '2'" }],
    mutations: [put("b", "'2'")],
  }),
  "a failing condition": single({
    matchConditions: [{ name: "c", expression: "object.data.none == '2'" }],
    mutations: [put("b", "'2'")],
  }),
  "failing conditions": single({
    matchConditions: [
      { name: "c", expression: "object.data.none == '2'" },
      { name: "d", expression: "object.data.one == '2'" },
    ],
    mutations: [put("b", "'2'")],
  }),
  "a failing condition ignored": single({
    failurePolicy: "Ignore",
    matchConditions: [{ name: "c", expression: "object.data.none == '2'" }],
    mutations: [put("b", "'2'")],
  }),
  "a condition about the namespace": single({
    matchConditions: [
      { name: "c", expression: "namespaceObject.metadata.name != ''" },
    ],
    mutations: [put("b", "'2'")],
  }),
  "a condition without a namespace": single({
    matchConditions: [{ name: "c", expression: "namespaceObject == null" }],
    mutations: [put("b", "'2'")],
  }),
  "a condition about the user": single({
    matchConditions: [
      {
        name: "c",
        expression:
          "authorizer.group('').resource('pods').check('get').allowed() && request.userInfo.username == 'admin'",
      },
    ],
    mutations: [put("b", "'2'")],
  }),
  "a parameter": single(
    params,
    bound({ name: "limit", parameterNotFoundAction: "Deny" }),
  ),
  "selected parameters": single(
    params,
    bound({
      selector: { matchLabels: { limit: "yes" } },
      parameterNotFoundAction: "Deny",
    }),
  ),
  "a missing parameter": single(
    params,
    bound({ name: "none", parameterNotFoundAction: "Deny" }),
  ),
  "a missing parameter allowed": single(
    params,
    bound({ name: "none", parameterNotFoundAction: "Allow" }),
  ),
  "a missing selected parameter": single(
    params,
    bound({
      selector: { matchLabels: { limit: "no" } },
      parameterNotFoundAction: "Deny",
    }),
  ),
  "a missing parameter ignored": single(
    { ...params, failurePolicy: "Ignore" },
    bound({ name: "none", parameterNotFoundAction: "Deny" }),
  ),
  "no parameter bound": single(params),
  "a parameter elsewhere": single(
    params,
    bound({
      name: "none",
      namespace: "kube-system",
      parameterNotFoundAction: "Deny",
    }),
  ),
  "a parameter of the cluster": single(
    {
      paramKind: { apiVersion: "v1", kind: "Namespace" },
      mutations: [put("b", "string(params.metadata.name)")],
    },
    bound({ name: "default", parameterNotFoundAction: "Deny" }),
  ),
  "a parameter of the cluster in a namespace": single(
    {
      paramKind: { apiVersion: "v1", kind: "Namespace" },
      mutations: [put("b", "string(params.metadata.name)")],
    },
    bound({
      name: "default",
      namespace: "default",
      parameterNotFoundAction: "Deny",
    }),
  ),
  "an unknown kind of parameters": single(
    {
      paramKind: { apiVersion: "none.io/v1", kind: "Nothing" },
      mutations: [put("b", "'2'")],
    },
    bound({ name: "default", parameterNotFoundAction: "Deny" }),
  ),
  // The reference has no order among policies: what comes of these is the same in any.
  "several policies": {
    policies: {
      a: { spec: { mutations: [put("pa", "object.data.a")] } },
      b: { spec: { mutations: [add("pb", "object.data.a")] } },
      c: { spec: { mutations: [put("pc", "object.data.a")] } },
    },
    object: data,
  },
  "several failing policies": {
    policies: {
      b: { spec: { mutations: [broken] } },
      c: { spec: { mutations: [failing], failurePolicy: "Ignore" } },
      d: { spec: { mutations: [put("d", "'1'")] } },
    },
    object: data,
  },
  "policies invoked again": {
    policies: {
      a: {
        spec: {
          reinvocationPolicy: "IfNeeded",
          mutations: [put("pa", "string('pb' in object.data)")],
        },
      },
      b: { spec: { mutations: [put("pb", "'b'")] } },
      c: {
        spec: {
          reinvocationPolicy: "IfNeeded",
          mutations: [put("pc", "string('pb' in object.data)")],
        },
      },
    },
    object: data,
  },
  "one policy invoked again": {
    policies: {
      a: {
        spec: {
          reinvocationPolicy: "IfNeeded",
          mutations: [put("a", "string(object.data.a) + '+'")],
        },
      },
    },
    object: data,
  },
  "no policy invoked again": {
    policies: {
      a: {
        spec: {
          reinvocationPolicy: "IfNeeded",
          mutations: [put("a", "'1'")],
        },
      },
    },
    object: data,
  },
  "a selected label that a policy adds": {
    policies: {
      a: {
        spec: {
          apply: 'Object{metadata: Object.metadata{labels: {"case": "gone"}}}',
        },
      },
      b: { spec: { mutations: [put("b", "'2'")] } },
    },
    object: data,
  },
  "custom objects, several mutations": {
    policies: {
      a: {
        spec: {
          mutations: [
            applied("Object{spec: Object.spec{size: 3}}"),
            patched(
              "[JSONPatch{op: 'add', path: '/spec/map', value: {'size': string(object.spec.size)}}]",
            ),
            applied(
              "Object{spec: Object.spec{set: [string(object.spec.map.size), string(object.spec.mode)]}}",
            ),
          ],
        },
      },
    },
    object: gadget({}),
  },
};

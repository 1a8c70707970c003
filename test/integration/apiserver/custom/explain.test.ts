// `kubectl explain` of custom resources with the stock program: descriptions, types, requirements and enums of each version,
// in both forms of OpenAPI, following the definition as it changes and goes. The texts are those that kubectl printed for
// a kube-apiserver 1.32 with the same definition.
import * as fs from "node:fs";
import * as path from "node:path";
import { crd, definitions, versionOf } from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { createKubectl, type Kubectl } from "../../../support/kubectl.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";
import { startTester, type Tester } from "../../conformance/support.ts";

const directory = makeTempDirectory("orbit-explain-");
let tester: Tester;
let kubectl: Kubectl;

const schema = (more: object = {}): object => ({
  type: "object",
  description: "Gate opens ways.",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      description: "What is wanted.",
      required: ["host"],
      properties: {
        host: { type: "string", description: "The name that is asked for." },
        port: { "x-kubernetes-int-or-string": true },
        mode: { type: "string", enum: ["Open", "Closed"] },
        rules: {
          type: "array",
          description: "In their order.",
          items: {
            type: "object",
            properties: {
              weight: { type: "integer", format: "int32" },
              headers: {
                type: "object",
                additionalProperties: { type: "string" },
              },
            },
          },
        },
        extra: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
        },
        ...more,
      },
    },
  },
});
const definition = (more?: object): ReturnType<typeof crd> =>
  crd({
    ...{ group: "explain.example.com", plural: "gates", kind: "Gate" },
    versions: [
      versionOf("v1", { schema: schema(more) }),
      versionOf("v1alpha1", {
        storage: false,
        schema: schema({ only: { type: "boolean" } }),
      }),
    ],
  });

beforeAll(async () => {
  tester = await startTester();
  const kubeconfig = path.join(directory, "config");
  fs.writeFileSync(kubeconfig, tester.cluster.kubeconfig, { mode: 0o600 });
  const run = createKubectl(kubeconfig);
  kubectl = (args, options) =>
    run(args, { ...options, env: { HOME: directory } });
  await tester.ok("POST", definitions, definition());
  await eventually(async () => (await explain("gates")).includes("Gate opens"));
});
afterAll(async () => {
  await tester.stop();
  removeTempDirectory(directory);
});

/** Afresh: kubectl keeps discovery for hours. */
async function explain(args: string): Promise<string> {
  fs.rmSync(path.join(directory, ".kube"), { recursive: true, force: true });
  const { stdout, stderr } = await kubectl(`explain ${args}`);
  return stdout + stderr;
}

test("a whole kind, its fields and what is required", async () => {
  const text = await explain("gates");
  expect(text).toContain("GROUP:      explain.example.com\nKIND:       Gate");
  expect(text).toMatch(/DESCRIPTION:\n +Gate opens ways\./);
  expect(text).toMatch(/ {2}spec\t<Object> -required-\n +What is wanted\./);
  expect(text).toMatch(/ {2}metadata\t<ObjectMeta>/);
});

test("recursively", async () => {
  const text = await explain("gate --recursive");
  expect(text.slice(text.indexOf("  spec\t"))).toBe(
    `  spec\t<Object> -required-
    extra\t<Object>
    host\t<string> -required-
    mode\t<string>
    enum: Open, Closed
    port\t<Object>
    rules\t<[]Object>
      headers\t<map[string]string>
      weight\t<integer>

`,
  );
});

test.each([
  ["gate.spec.host", /FIELD: host <string>\n[^]*The name that is asked for\./],
  ["gate.spec.rules", /FIELD: rules <\[\]Object>\n[^]*In their order\./],
  ["gate.spec.rules.headers", /FIELD: headers <map\[string\]string>/],
  ["gate.spec.mode", /ENUM:\n +Open\n +Closed/],
  ["gate.spec.none", /error: field "none" does not exist/],
  [
    "gate.spec.only --api-version explain.example.com/v1alpha1",
    /VERSION: {4}v1alpha1\n[^]*FIELD: only <boolean>/,
  ],
  ["gate.spec.only", /error: field "only" does not exist/],
  [
    "gate.spec.rules --output plaintext-openapiv2",
    /RESOURCE: rules <\[\]Object>\n\nDESCRIPTION:\n +In their order\./,
  ],
])("%s", async (args, wanted) => {
  expect(await explain(args)).toMatch(wanted);
});

test("a definition that changes, and goes", async () => {
  await tester.ok(
    "PATCH",
    `${definitions}/gates.explain.example.com`,
    { spec: definition({ added: { type: "number" } })["spec"] },
    { "content-type": "application/merge-patch+json" },
  );
  await eventually(async () =>
    /FIELD: added <number>/.test(await explain("gate.spec.added")),
  );
  await tester.ok("DELETE", `${definitions}/gates.explain.example.com`);
  await eventually(async () =>
    /the server doesn't have a resource type "gates"/.test(
      await explain("gates"),
    ),
  );
});

// What MutatingAdmissionPolicies make of requests: both kinds of patches, their failures, parameters, order and
// reinvocation.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";
import { applications } from "./mutating-policies/applications.ts";
import { compositions } from "./mutating-policies/compositions.ts";
import { patches } from "./mutating-policies/patches.ts";
import { definition, parts, type Case } from "./mutating-policies/case.ts";
import { mutatingPolicyOptions } from "./mutating-policy-kinds.ts";

const group = "/apis/admissionregistration.k8s.io/v1alpha1";
const policies = `${group}/mutatingadmissionpolicies`;
const bindings = `${group}/mutatingadmissionpolicybindings`;

/** The reference notices policies and definitions after a while. */
const attempts = 150;
const pause = (): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, 100));

const cases: Readonly<Record<string, Case>> = {
  ...applications,
  ...patches,
  ...compositions,
};

/** Policies of one case are for objects with its label. */
async function put(
  { call, namespace }: Server,
  index: number,
  { policies: given }: Case,
): Promise<void> {
  for (const [name, { spec = {}, binding = {} }] of Object.entries(given)) {
    const metadata = { name: `c${index}-${name}` };
    const create = (): ReturnType<typeof call> =>
      call("", "POST", policies, {
        body: { metadata, spec: parts(spec, `c${index}`) },
        silent: true,
      });
    let created = await create();
    // The reference sometimes does not know a policy's variables while it compiles another policy.
    for (let more = 0; more < 5 && created.status !== 201; more++)
      created = await create();
    if (created.status !== 201)
      throw new Error(`case ${index}: ${created.text}`);
    const matchResources = {
      namespaceSelector: {
        matchLabels: { "kubernetes.io/metadata.name": namespace },
      },
    };
    await call("", "POST", bindings, {
      body: {
        metadata,
        spec: { policyName: metadata.name, matchResources, ...binding },
      },
      silent: true,
    });
  }
}

async function inEffect(server: Server, ns: string): Promise<void> {
  const { call } = server;
  await put(server, 999, {
    policies: {
      last: { spec: { apply: 'Object{data: {"in": "effect"}}' } },
    },
  });
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { body } = await call("", "POST", `${ns}/configmaps?dryRun=All`, {
      body: { metadata: { name: "last", labels: { case: "c999" } } },
      silent: true,
    });
    if (body?.data?.in === "effect") return;
    await pause();
  }
  throw new Error("the policies are not in effect");
}

const collections = (namespace: string): Readonly<Record<string, string>> => ({
  ConfigMap: `/api/v1/namespaces/${namespace}/configmaps`,
  Pod: `/api/v1/namespaces/${namespace}/pods`,
  Deployment: `/apis/apps/v1/namespaces/${namespace}/deployments`,
  Gadget: `/apis/mutating.example.com/v1/namespaces/${namespace}/gadgets`,
});

export const mutatingPolicies: Scenario = {
  name: "mutating-policies",
  options: mutatingPolicyOptions,
  async run(server) {
    const { call, namespace } = server;
    const ns = `/api/v1/namespaces/${namespace}`;
    await call(
      "",
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      {
        body: definition,
        silent: true,
      },
    );
    const paths = collections(namespace);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { status } = await call("", "GET", paths.Gadget!, { silent: true });
      const { status: published } = await call(
        "",
        "GET",
        "/openapi/v3/apis/mutating.example.com/v1",
        { silent: true },
      );
      if (status === 200 && published === 200) break;
      await pause();
    }
    await call("", "POST", `${ns}/configmaps`, {
      body: {
        metadata: { name: "limit", labels: { limit: "yes" } },
        data: { max: "7" },
      },
      silent: true,
    });
    const all = Object.entries(cases);
    for (const [index, [, one]] of all.entries()) await put(server, index, one);
    await inEffect(server, ns);
    // The reference looks for new schemas every five seconds.
    for (let attempt = 0; attempt < attempts; attempt++) {
      const { status } = await call("", "POST", `${paths.Gadget}?dryRun=All`, {
        body: gadgetOf(
          all.findIndex(([, { object }]) => object?.kind === "Gadget"),
        ),
        silent: true,
      });
      if (status !== 503) break;
      await pause();
    }
    for (const [index, [label, { object = {} }]] of all.entries()) {
      const { kind = "ConfigMap", metadata = {}, ...rest } = object as Json;
      const body = {
        apiVersion: "v1",
        kind,
        ...rest,
        metadata: {
          name: "m",
          ...metadata,
          labels: { case: `c${index}`, ...metadata.labels },
        },
      };
      await call(label, "POST", `${paths[kind as string]}?dryRun=All`, {
        body,
        ...plain,
      });
    }
  },
};

const gadgetOf = (index: number): object => ({
  apiVersion: "mutating.example.com/v1",
  kind: "Gadget",
  metadata: { name: "m", labels: { case: `c${index}` } },
});

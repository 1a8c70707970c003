// Deletion: options in body and query, in each encoding; preconditions; propagation policies per kind; finalizers; grace
// periods; what is answered; deleting what is being deleted; collections.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const merge = { "content-type": "application/merge-patch+json" };

/** A minimal object of kinds with dependents or rules of their own, by their path below the version. */
const kinds: Record<string, Json> = {
  "/api/v1/configmaps": {},
  "/api/v1/secrets": {},
  "/api/v1/serviceaccounts": {},
  "/api/v1/services": { spec: { ports: [{ port: 80 }] } },
  "/api/v1/endpoints": {},
  "/api/v1/persistentvolumeclaims": {
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  },
  "/api/v1/podtemplates": {
    template: { spec: { containers: [{ name: "c", image: "i" }] } },
  },
  "/api/v1/resourcequotas": {},
  "/api/v1/limitranges": {},
  "/api/v1/events": { involvedObject: { namespace: "ref-deletion" } },
  "/api/v1/pods": { spec: { containers: [{ name: "c", image: "i" }] } },
  "/api/v1/replicationcontrollers": {
    spec: {
      selector: { a: "b" },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  },
  ...Object.fromEntries(
    ["deployments", "replicasets", "daemonsets", "statefulsets"].map((name) => [
      `/apis/apps/v1/${name}`,
      {
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: {
            metadata: { labels: { a: "b" } },
            spec: { containers: [{ name: "c", image: "i" }] },
          },
        },
      },
    ]),
  ),
  "/apis/apps/v1/controllerrevisions": { revision: 1 },
  "/apis/batch/v1/jobs": {
    spec: {
      template: {
        spec: {
          restartPolicy: "Never",
          containers: [{ name: "c", image: "i" }],
        },
      },
    },
  },
  "/apis/batch/v1/cronjobs": {
    spec: {
      schedule: "* * * * *",
      jobTemplate: {
        spec: {
          template: {
            spec: {
              restartPolicy: "Never",
              containers: [{ name: "c", image: "i" }],
            },
          },
        },
      },
    },
  },
  "/apis/networking.k8s.io/v1/networkpolicies": { spec: { podSelector: {} } },
  "/apis/networking.k8s.io/v1/ingresses": {
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
  },
  "/apis/policy/v1/poddisruptionbudgets": { spec: { minAvailable: 1 } },
  "/apis/rbac.authorization.k8s.io/v1/roles": {},
  "/apis/coordination.k8s.io/v1/leases": {},
  "/apis/discovery.k8s.io/v1/endpointslices": { addressType: "IPv4" },
  "/apis/autoscaling/v2/horizontalpodautoscalers": {
    spec: {
      maxReplicas: 1,
      scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
    },
  },
};
const clusterKinds: Record<string, Json> = {
  "/api/v1/persistentvolumes": {
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      hostPath: { path: "/x" },
    },
  },
  "/api/v1/nodes": {},
  "/api/v1/namespaces": {},
  "/apis/rbac.authorization.k8s.io/v1/clusterroles": {},
  "/apis/scheduling.k8s.io/v1/priorityclasses": { value: 1 },
  "/apis/storage.k8s.io/v1/storageclasses": { provisioner: "p" },
  "/apis/node.k8s.io/v1/runtimeclasses": { handler: "h" },
  "/apis/networking.k8s.io/v1/ingressclasses": { spec: { controller: "a/b" } },
};

/** An answer to a delete, without what is a kind's own. */
function brief(body: Json): unknown {
  if (body?.kind === "Status")
    return {
      ...body,
      kind: undefined,
      apiVersion: undefined,
      metadata: undefined,
      ...(body.details?.uid
        ? { details: { ...body.details, uid: "<uid>" } }
        : {}),
    };
  if (body?.items)
    return `${body.kind} of ${body.items.map((item: Json) => item.metadata.name).join()}`;
  if (!body?.metadata) return body;
  const {
    finalizers,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
  } = body.metadata;
  return {
    kind: body.kind,
    finalizers,
    deleting: deletionTimestamp !== undefined,
    deletionGracePeriodSeconds,
    generation,
    phase: body.status?.phase,
  };
}

export const deletion: Scenario = {
  name: "deletion",
  async run({ namespace, call }) {
    const keep = brief;
    const config = `/api/v1/namespaces/${namespace}/configmaps`;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    let number = 0;
    /** A new object; resolves to its path. */
    const make = async (
      collection: string,
      more: Json = {},
      metadata: Json = {},
    ): Promise<string> => {
      const name = `o${++number}`;
      const made = await call("", "POST", collection, {
        silent: true,
        body: { ...more, metadata: { name, ...metadata } },
      });
      if (made.status !== 201)
        await call(`not made: ${collection} ${number}`, "GET", "/version", {
          keep: () => keep(made.body),
        });
      return `${collection}/${name}`;
    };
    const clear = (path: string): Promise<unknown> =>
      call("", "PATCH", path, {
        silent: true,
        headers: merge,
        body: { metadata: { finalizers: null } },
      });
    /** Deletes a new ConfigMap, and tells what is left. */
    const remove = async (
      label: string,
      query: string,
      options: Parameters<typeof call>[3] = {},
      metadata: Json = {},
      more: { collection?: string; body?: Json } = {},
    ): Promise<void> => {
      const path = await make(more.collection ?? config, more.body, metadata);
      await call(label, "DELETE", `${path}?${query}`, { keep, ...options });
      await call(`${label}: after`, "GET", path, { keep });
      await clear(path);
      await call("", "DELETE", `${path}?gracePeriodSeconds=0`, {
        silent: true,
      });
    };

    const policies = [
      "Foreground",
      "Background",
      "Orphan",
      "foreground",
      "Other",
      "",
    ];
    for (const [path, body] of Object.entries({ ...kinds, ...clusterKinds })) {
      const [, root, resource] = /^(.*)\/([^/]+)$/.exec(path)!;
      const collection = kinds[path]
        ? `${root}/namespaces/${namespace}/${resource}`
        : path;
      const answers: Json[] = [];
      for (const query of [
        "",
        ...policies.slice(0, 3).map((each) => `propagationPolicy=${each}`),
        "orphanDependents=true",
        "orphanDependents=false",
        "gracePeriodSeconds=0",
        "gracePeriodSeconds=5",
      ]) {
        const one = await make(collection, body);
        const { status, body: answer } = await call(
          "",
          "DELETE",
          `${one}?${query}`,
          { silent: true },
        );
        answers.push([
          query,
          status,
          answer.kind === "Status"
            ? answer.details?.kind
            : [answer.kind, keep(answer)],
        ]);
        await clear(one);
      }
      await call(`kind ${resource}`, "GET", "/version", {
        keep: () => answers,
      });
    }

    for (const policy of policies)
      await remove(`policy ${policy}`, `propagationPolicy=${policy}`);
    for (const orphan of ["true", "false", "", "0", "1", "x", "TRUE"])
      await remove(`orphanDependents ${orphan}`, `orphanDependents=${orphan}`);
    for (const grace of [
      "0",
      "1",
      "30",
      "-1",
      "-100",
      "x",
      "",
      "1.5",
      "9223372036854775808",
    ])
      await remove(
        `gracePeriodSeconds ${grace}`,
        `gracePeriodSeconds=${grace}`,
      );
    for (const dryRun of [
      "All",
      "all",
      "None",
      "All&dryRun=All",
      "All&dryRun=x",
    ])
      await remove(`dryRun ${dryRun}`, `dryRun=${dryRun}`);
    await remove(
      "policy and orphanDependents",
      "propagationPolicy=Foreground&orphanDependents=true",
    );
    await remove(
      "unknown parameters",
      "foo=bar&propagationPolicy=Orphan&propagationPolicy=Background",
    );
    await remove(
      "preconditions in the query",
      "preconditions=x&uid=y&resourceVersion=1",
    );
    await remove(
      "ignoring read errors",
      "ignoreStoreReadErrorWithClusterBreakingPotential=true",
    );
    await remove(
      "not ignoring read errors",
      "ignoreStoreReadErrorWithClusterBreakingPotential=false",
    );

    const uid = "11111111-1111-1111-1111-111111111111";
    const bodies: Record<string, Json> = {
      empty: {},
      "with kind": { kind: "DeleteOptions", apiVersion: "v1" },
      "of another kind": { kind: "Pod", apiVersion: "v1" },
      "of meta": { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" },
      "of a group": { kind: "DeleteOptions", apiVersion: "apps/v1" },
      "of an unknown version": { kind: "DeleteOptions", apiVersion: "v9" },
      "kind only": { kind: "DeleteOptions" },
      "version only": { apiVersion: "v1" },
      "unknown field": { foo: 1 },
      "unknown nested field": { preconditions: { foo: 1 } },
      list: [],
      text: "x",
      number: 1,
      "null values": {
        propagationPolicy: null,
        preconditions: null,
        dryRun: null,
        gracePeriodSeconds: null,
        orphanDependents: null,
      },
      Foreground: { propagationPolicy: "Foreground" },
      Orphan: { propagationPolicy: "Orphan" },
      "bad policy": { propagationPolicy: "x" },
      "empty policy": { propagationPolicy: "" },
      "policy of another type": { propagationPolicy: 1 },
      orphan: { orphanDependents: true },
      "not orphan": { orphanDependents: false },
      "orphan of another type": { orphanDependents: "true" },
      both: { orphanDependents: true, propagationPolicy: "Orphan" },
      "both and bad": {
        orphanDependents: true,
        propagationPolicy: "x",
        dryRun: ["x"],
      },
      "grace 5": { gracePeriodSeconds: 5 },
      "grace -1": { gracePeriodSeconds: -1 },
      "grace 1.5": { gracePeriodSeconds: 1.5 },
      "grace text": { gracePeriodSeconds: "5" },
      "wrong uid": { preconditions: { uid } },
      "empty uid": { preconditions: { uid: "" } },
      "wrong version": { preconditions: { resourceVersion: "1" } },
      "empty version": { preconditions: { resourceVersion: "" } },
      "bad version": { preconditions: { resourceVersion: "x" } },
      "wrong uid and version": { preconditions: { uid, resourceVersion: "1" } },
      "empty preconditions": { preconditions: {} },
      "dry run": { dryRun: ["All"] },
      "dry run twice": { dryRun: ["All", "All"] },
      "bad dry run": { dryRun: ["x"] },
      "good and bad dry run": { dryRun: ["All", "x"] },
      "dry run as text": { dryRun: "All" },
      "no dry run": { dryRun: [] },
    };
    // What the reference's own fault is in its words.
    const fails = new Set([
      "of another kind",
      "of meta",
      "of a group",
      "of an unknown version",
      "list",
      "text",
      "number",
      "policy of another type",
      "orphan of another type",
      "grace 1.5",
      "grace text",
      "dry run as text",
    ]);
    for (const [label, body] of Object.entries(bodies))
      await remove(`${fails.has(label) ? "500: " : ""}body ${label}`, "", {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
        keep: (answer) => {
          const kept = keep(answer) as Json;
          if (kept?.message)
            kept.message = kept.message.replace(
              /record \(\d+\)/,
              "record (<version>)",
            );
          return kept;
        },
      });
    await remove(
      "body and query",
      "propagationPolicy=Foreground&gracePeriodSeconds=3",
      { body: { propagationPolicy: "Orphan" } },
    );
    await remove(
      "body and a bad query",
      "propagationPolicy=x&gracePeriodSeconds=y&orphanDependents=z",
      { body: { propagationPolicy: "Orphan" } },
    );
    await remove("dryRun: body and dryRun in the query", "dryRun=All", {
      body: {},
    });
    await remove(
      "dryRun: body without dryRun, bad one in the query",
      "dryRun=x",
      {
        body: {},
      },
    );
    await remove("unknown field, strict", "fieldValidation=Strict", {
      body: { foo: 1 },
    });
    await remove("500: a body that is no JSON", "", {
      body: "{",
      headers: { "content-type": "application/json" },
    });
    for (const type of [
      "application/yaml",
      "text/plain",
      "",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-8",
      "application/json;as=Table",
    ])
      await remove(`body as ${type}`, "", {
        body: '{"propagationPolicy":"Orphan"}',
        headers: { "content-type": type },
      });
    await remove("YAML", "", {
      body: "propagationPolicy: Orphan\ngracePeriodSeconds: 3\n",
      headers: { "content-type": "application/yaml" },
    });
    await remove("no body, other type", "", {
      headers: { "content-type": "text/plain" },
    });

    // Finalizers, and deleting what is being deleted.
    for (const finalizers of [
      ["a.b/c"],
      ["orphan"],
      ["foregroundDeletion"],
      ["orphan", "a.b/c", "foregroundDeletion"],
    ])
      for (const query of [
        "",
        "propagationPolicy=Foreground",
        "propagationPolicy=Orphan",
        "propagationPolicy=Background",
        "gracePeriodSeconds=0",
        "dryRun=All",
      ])
        await remove(
          `finalizers ${finalizers.join()}: ${query}`,
          query,
          {},
          { finalizers },
        );
    const held = await make(config, {}, { finalizers: ["a.b/c", "d.e/f"] });
    for (const [at, query] of [
      "",
      "",
      "propagationPolicy=Orphan",
      "propagationPolicy=Foreground",
      "propagationPolicy=Background",
      "gracePeriodSeconds=0",
      "gracePeriodSeconds=10",
    ].entries())
      await call(`again ${at} ${query}`, "DELETE", `${held}?${query}`, {
        keep,
      });
    const patch = (
      label: string,
      path: string,
      metadata: Json,
      kept: Json = keep,
    ): Promise<unknown> =>
      call(label, "PATCH", path, {
        headers: merge,
        body: { metadata },
        keep: kept,
      });
    for (const finalizers of [
      ["a.b/c", "d.e/f", "g.h/i"],
      ["a.b/c", "x.y/z"],
    ])
      await patch(
        `new finalizers while deleted: ${finalizers.join()}`,
        held,
        { finalizers },
        (body: Json) => body.message,
      );
    await patch("a finalizer less", held, { finalizers: ["a.b/c"] });
    await patch("the deletion taken back", held, {
      deletionTimestamp: null,
      deletionGracePeriodSeconds: null,
    });
    await patch("another deletion time", held, {
      deletionTimestamp: "2030-01-01T00:00:00Z",
    });
    await call("create while deleted", "POST", config, {
      body: { metadata: { name: held.split("/").at(-1) } },
      keep,
    });
    await patch("the last finalizer, dry run", `${held}?dryRun=All`, {
      finalizers: [],
    });
    await patch("the last finalizer", held, { finalizers: [] });
    await call("gone", "GET", held, { keep });
    const put = await make(config, {}, { finalizers: ["a.b/c"] });
    await call("held", "DELETE", put, { keep });
    await call("PUT without finalizers", "PUT", put, {
      body: { metadata: { name: put.split("/").at(-1) } },
      keep,
    });
    await call("PUT: gone", "GET", put, { keep });

    // Pods: graceful when they are bound to a node.
    const spec = { containers: [{ name: "c", image: "i" }] };
    for (const [label, body] of Object.entries({
      unbound: { spec },
      bound: { spec: { ...spec, nodeName: "n" } },
      "bound, grace 0": {
        spec: { ...spec, nodeName: "n", terminationGracePeriodSeconds: 0 },
      },
      "bound, grace -5": {
        spec: { ...spec, nodeName: "n", terminationGracePeriodSeconds: -5 },
      },
      "bound, grace 60": {
        spec: { ...spec, nodeName: "n", terminationGracePeriodSeconds: 60 },
      },
    }))
      for (const query of [
        "",
        "gracePeriodSeconds=0",
        "gracePeriodSeconds=1",
        "gracePeriodSeconds=100",
        "gracePeriodSeconds=-1",
        "dryRun=All",
        "propagationPolicy=Foreground",
      ])
        await remove(
          `pod ${label}: ${query}`,
          query,
          {},
          {},
          { collection: pods, body },
        );
    for (const phase of ["Succeeded", "Failed", "Running"]) {
      const pod = await make(pods, { spec: { ...spec, nodeName: "n" } });
      await call("", "PATCH", `${pod}/status`, {
        silent: true,
        headers: merge,
        body: { status: { phase } },
      });
      await call(`pod ${phase}`, "DELETE", pod, { keep });
      await call(`pod ${phase}: after`, "GET", pod, { keep });
      await call("", "DELETE", `${pod}?gracePeriodSeconds=0`, { silent: true });
    }
    const pod = await make(pods, { spec: { ...spec, nodeName: "n" } });
    for (const grace of ["60", "20", "30", "", "20", "1", "0"])
      await call(
        `pod shorter and longer: ${grace} (${++number})`,
        "DELETE",
        grace ? `${pod}?gracePeriodSeconds=${grace}` : pod,
        { keep },
      );
    await call("pod: gone", "GET", pod, { keep });
    const heldPod = await make(
      pods,
      { spec: { ...spec, nodeName: "n" } },
      { finalizers: ["a.b/c"] },
    );
    for (const query of [
      "gracePeriodSeconds=20",
      "gracePeriodSeconds=0",
      "gracePeriodSeconds=0",
      "gracePeriodSeconds=5",
      "",
    ])
      await call(
        `held pod: ${query} (${++number})`,
        "DELETE",
        `${heldPod}?${query}`,
        { keep },
      );
    await patch("held pod's last finalizer", heldPod, { finalizers: null });
    await call("held pod: gone", "GET", heldPod, { keep });

    // Collections.
    const fill = async (
      collection: string,
      names: string[],
      more: (name: string) => Json = () => ({}),
    ): Promise<void> => {
      for (const name of names)
        await call("", "POST", collection, {
          silent: true,
          body: { metadata: { name, labels: { l: name } }, ...more(name) },
        });
    };
    const collection = async (
      label: string,
      query: string,
      options: Parameters<typeof call>[3] = {},
    ): Promise<void> => {
      await fill(config, ["a", "b", "c"]);
      await call(`collection ${label}`, "DELETE", `${config}?${query}`, {
        keep,
        ...options,
      });
      await call(`collection ${label}: after`, "GET", config, { keep });
    };
    await collection("by label", "labelSelector=l%3Da");
    await collection(
      "by labels",
      "labelSelector=l in (a,b)".replaceAll(" ", "%20"),
    );
    await collection("by field", "fieldSelector=metadata.name%3Db");
    await collection("by unknown field", "fieldSelector=x%3Db");
    await collection("by bad label", "labelSelector=!!");
    await collection("limit", "limit=2");
    await collection("limit 0", "limit=0");
    await collection("bad limit", "limit=x");
    await collection("negative limit", "limit=-1");
    await collection("dry run", "dryRun=All");
    await collection("bad dry run", "dryRun=x");
    await collection("dry run in the body", "", { body: { dryRun: ["All"] } });
    await collection("bad policy", "propagationPolicy=x");
    await collection("wrong uid", "", {
      body: { preconditions: { uid } },
      keep: (body) =>
        (keep(body) as Json).message
          ?.replace(/\(<?[^()]*\)/g, "(<uid>)")
          .replace(/"[abc]"/, "<name>"),
    });
    await collection(
      "Foreground",
      "propagationPolicy=Foreground&labelSelector=l%3Da",
    );
    for (const name of ["a", "b", "c"]) await clear(`${config}/${name}`);
    await collection("unknown body", "", { body: { foo: 1 } });
    await collection("body with selectors", "", {
      body: { labelSelector: "l=a" },
    });
    await collection("timeout", "timeoutSeconds=1");
    await collection("bad timeout", "timeoutSeconds=x");
    await collection("watch", "watch=1");
    await collection("none", "labelSelector=none");
    await collection("all", "");
    await fill(pods, ["p1", "p2"], (name) => ({
      spec: { ...spec, ...(name === "p1" ? { nodeName: "n" } : {}) },
    }));
    await call("pods", "DELETE", pods, { keep });
    await call("pods: after", "GET", pods, { keep });
    await call("pods, now", "DELETE", `${pods}?gracePeriodSeconds=0`, { keep });
    await call("pods, now: after", "GET", pods, { keep });
    for (const path of [
      `/api/v1/namespaces/${namespace}/services`,
      `/api/v1/namespaces/none/configmaps`,
      "/api/v1/persistentvolumes",
    ])
      await call(`collection ${path}`, "DELETE", path, { keep });
    await call("delete none", "DELETE", `${config}/none`, { keep });
    await call("delete none, dry run", "DELETE", `${config}/none?dryRun=All`, {
      keep,
    });
    await call(
      "delete none, bad options",
      "DELETE",
      `${config}/none?propagationPolicy=x`,
      { keep },
    );
    await call(
      "delete in a namespace that is not there",
      "DELETE",
      "/api/v1/namespaces/none/configmaps/a",
      { keep },
    );
    for (const name of [
      "default",
      "kube-system",
      "kube-public",
      "kube-node-lease",
      "none",
    ])
      await call(
        `delete namespace ${name}`,
        "DELETE",
        `/api/v1/namespaces/${name}?dryRun=All`,
        { keep },
      );
  },
};

// Create and update, what all kinds share: names in bodies and paths, generated names, system fields that are given,
// PUT without a version and PUT that creates by kind, dry runs, parameters, empty bodies, subresources.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const template = {
  metadata: { labels: { a: "b" } },
  spec: { containers: [{ name: "c", image: "i" }] },
};
const workload = { spec: { selector: { matchLabels: { a: "b" } }, template } };
const never = { spec: { ...template.spec, restartPolicy: "Never" } };

const namespacedKinds: Record<string, Json> = {
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
  "/api/v1/podtemplates": { template },
  "/api/v1/resourcequotas": {},
  "/api/v1/limitranges": {},
  "/api/v1/events": { involvedObject: { namespace: "ref-writing" } },
  "/api/v1/pods": { spec: template.spec },
  "/api/v1/replicationcontrollers": {
    spec: { selector: { a: "b" }, template },
  },
  "/apis/apps/v1/deployments": workload,
  "/apis/apps/v1/replicasets": workload,
  "/apis/apps/v1/daemonsets": workload,
  "/apis/apps/v1/statefulsets": workload,
  "/apis/apps/v1/controllerrevisions": { revision: 1 },
  "/apis/batch/v1/jobs": { spec: { template: never } },
  "/apis/batch/v1/cronjobs": {
    spec: { schedule: "* * * * *", jobTemplate: { spec: { template: never } } },
  },
  "/apis/networking.k8s.io/v1/networkpolicies": { spec: { podSelector: {} } },
  "/apis/networking.k8s.io/v1/ingresses": {
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
  },
  "/apis/policy/v1/poddisruptionbudgets": { spec: { minAvailable: 1 } },
  "/apis/rbac.authorization.k8s.io/v1/roles": {},
  "/apis/rbac.authorization.k8s.io/v1/rolebindings": {
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "view",
    },
  },
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
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": {
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "view",
    },
  },
  "/apis/scheduling.k8s.io/v1/priorityclasses": { value: 1 },
  "/apis/storage.k8s.io/v1/storageclasses": { provisioner: "p" },
  "/apis/storage.k8s.io/v1/csidrivers": {},
  "/apis/node.k8s.io/v1/runtimeclasses": { handler: "h" },
  "/apis/networking.k8s.io/v1/ingressclasses": { spec: { controller: "a/b" } },
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": {},
};

function brief(body: Json): unknown {
  if (body?.kind === "Status")
    return {
      status: `${body.code} ${body.reason ?? ""}: ${body.message}`,
      details: body.details && {
        ...body.details,
        causes: body.details.causes?.map(
          ({ reason, field }: Json) => `${reason} ${field}`,
        ),
      },
    };
  if (!body?.metadata) return body;
  const {
    name,
    generateName,
    namespace,
    uid,
    resourceVersion,
    creationTimestamp,
    managedFields,
    ...rest
  } = body.metadata;
  return {
    kind: body.kind,
    name,
    generateName,
    namespace,
    ...rest,
    // Only whether they are there.
    has: Object.entries({
      uid,
      resourceVersion,
      creationTimestamp,
      managedFields,
    })
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key]) => key)
      .join(),
  };
}

export const writing: Scenario = {
  name: "writing",
  async run({ namespace, call }) {
    const keep = brief;
    const config = `/api/v1/namespaces/${namespace}/configmaps`;
    const uid = "11111111-1111-1111-1111-111111111111";

    for (const [path, body] of Object.entries({
      ...namespacedKinds,
      ...clusterKinds,
    })) {
      const [, root, resource] = /^(.*)\/([^/]+)$/.exec(path)!;
      const collection = namespacedKinds[path]
        ? `${root}/namespaces/${namespace}/${resource}`
        : path;
      const answers: Json = {};
      const ask = async (
        label: string,
        method: string,
        url: string,
        sent?: Json,
      ): Promise<Json> => {
        const answer = await call("", method, url, {
          silent: true,
          ...(sent === undefined ? {} : { body: sent }),
        });
        const { status, body: given } = answer;
        // Only what does not go without saying.
        const text = String(given?.message)
          .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<uid>")
          .replace(/"g-\w{5}"/, "<generated>")
          .replace(/StorageError.*/, "another uid");
        answers[label] =
          given?.kind !== "Status" ||
          label === "empty object" ||
          /^\S+ "\S+" not found$|^the server |already exists$/.test(text)
            ? status
            : `${status} ${text}`;
        return given;
      };
      const metadata = { name: `w-${resource}` };
      const one = `${collection}/${metadata.name}`;
      await ask("PUT what is not there", "PUT", one, { ...body, metadata });
      await ask("is it there", "GET", one);
      await ask("PUT what is not there, with a version", "PUT", `${one}2`, {
        ...body,
        metadata: { name: `${metadata.name}2`, resourceVersion: "5" },
      });
      await ask("PUT what is not there, with a uid", "PUT", `${one}3`, {
        ...body,
        metadata: { name: `${metadata.name}3`, uid },
      });
      await ask("PUT what is not there, dry run", "PUT", `${one}4?dryRun=All`, {
        ...body,
        metadata: { name: `${metadata.name}4` },
      });
      const made = await ask("create", "POST", collection, {
        ...body,
        metadata,
      });
      await ask("create again", "POST", collection, { ...body, metadata });
      const live =
        made?.kind === "Status"
          ? (await call("", "GET", one, { silent: true })).body
          : made;
      const { resourceVersion: _, ...unversioned } = live.metadata ?? {};
      await ask("PUT the same", "PUT", one, live);
      await ask("PUT without a version", "PUT", one, {
        ...live,
        metadata: unversioned,
      });
      await ask("PUT version 0", "PUT", one, {
        ...live,
        metadata: { ...unversioned, resourceVersion: "0" },
      });
      await ask("PUT an old version", "PUT", one, {
        ...live,
        metadata: { ...unversioned, resourceVersion: "1" },
      });
      await ask("PUT another uid", "PUT", one, {
        ...live,
        metadata: { ...live.metadata, uid },
      });
      await ask("PUT another name", "PUT", one, {
        ...live,
        metadata: { ...live.metadata, name: "other" },
      });
      await ask("PUT another namespace", "PUT", one, {
        ...live,
        metadata: { ...live.metadata, namespace: "other" },
      });
      await ask("PUT no metadata", "PUT", one, {
        ...live,
        metadata: undefined,
      });
      await ask("PUT an empty object", "PUT", one, {});
      await ask("create with a generated name", "POST", collection, {
        ...body,
        metadata: { generateName: "g-" },
      });
      await ask("create with a bad name", "POST", collection, {
        ...body,
        metadata: { name: "Bad_Name" },
      });
      await ask("create without a name", "POST", collection, body);
      await ask("create in another namespace", "POST", collection, {
        ...body,
        metadata: { name: "x", namespace: "other" },
      });
      await ask("dry run", "POST", `${collection}?dryRun=All`, {
        ...body,
        metadata: { name: "dry" },
      });
      await ask("after the dry run", "GET", `${collection}/dry`);
      await ask("empty object", "POST", collection, {});
      for (const sub of ["status", "scale", "finalize", "nothing"])
        await ask(`get ${sub}`, "GET", `${one}/${sub}`);
      await ask("POST to status", "POST", `${one}/status`, live);
      await ask("PUT nothing", "PUT", `${one}/nothing`, live);
      await ask(
        "PUT status of what is not there",
        "PUT",
        `${collection}/none/status`,
        { ...live, metadata: { ...live.metadata, name: "none" } },
      );
      await ask("PUT status without a version", "PUT", `${one}/status`, {
        ...live,
        metadata: unversioned,
      });
      if (resource !== "namespaces")
        await ask("delete", "DELETE", `${one}?gracePeriodSeconds=0`);
      await call(`kind ${resource}`, "GET", "/version", {
        keep: () => answers,
      });
    }

    let number = 0;
    const metadatas: Json[] = [
      { name: "" },
      { name: null },
      { generateName: "" },
      { name: "", generateName: "g-" },
      { name: "both", generateName: "g-" },
      { generateName: "Bad_" },
      { generateName: "-" },
      { generateName: "a.b-" },
      { generateName: "x".repeat(57) },
      { generateName: "x".repeat(58) },
      { generateName: "x".repeat(63) },
      { generateName: "x".repeat(250) },
      { generateName: "x".repeat(260) },
      { name: "x".repeat(253) },
      { name: "x".repeat(254) },
      { name: "a.b" },
      { name: "a..b" },
      { name: "-a" },
      { name: "a-" },
      { name: ".a" },
      { name: "a/b" },
      { name: "a%b" },
      { name: "." },
      { name: ".." },
      { name: "a b" },
      { name: "ä" },
      { name: "A" },
      { name: 1 },
      { name: true },
      { name: {} },
      { name: "n", resourceVersion: "1" },
      { name: "n", resourceVersion: "0" },
      { name: "n", resourceVersion: "" },
      { name: "n", resourceVersion: "x" },
      { name: "n1", uid },
      { name: "n2", uid: "x" },
      { name: "n3", creationTimestamp: "2001-01-01T00:00:00Z" },
      {
        name: "n4",
        deletionTimestamp: "2001-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 5,
      },
      { name: "n5", generation: 7 },
      { name: "n6", selfLink: "/x" },
      { name: "n7", clusterName: "x" },
      { name: "n8", finalizers: ["a"] },
      { name: "n9", finalizers: ["a.b/c", "a.b/c"] },
      { name: "n10", finalizers: ["a.b/c", ""] },
      { name: "n11", finalizers: ["orphan", "foregroundDeletion"] },
      { name: "n12", finalizers: ["kubernetes"] },
      { name: "n13", ownerReferences: [{}] },
      {
        name: "n14",
        ownerReferences: [
          { apiVersion: "v1", kind: "Pod", name: "p", uid },
          { apiVersion: "v1", kind: "Pod", name: "p", uid },
        ],
      },
      {
        name: "n16",
        ownerReferences: [{ apiVersion: "v1", kind: "Event", name: "p", uid }],
      },
      { name: "n17", labels: { "a/b/c": "d" } },
      { name: "n18", labels: { a: "-" } },
      { name: "n19", annotations: { "a b": "c" } },
      { name: "n20", labels: { a: null } },
      { name: "n21", labels: { a: 1 } },
      { name: "n22", annotations: { "A/b": "c" } },
      { name: "n23", managedFields: [] },
      { name: "n24", managedFields: [{}] },
      {
        name: "n25",
        managedFields: [
          {
            manager: "m",
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: {},
          },
        ],
      },
      { name: "n26", managedFields: [{ manager: "m", operation: "x" }] },
      { name: "n27", namespace: "" },
      { name: "n28", namespace: null },
      { name: "n29", namespace: "other" },
      { name: "n30", foo: 1 },
    ];
    for (const metadata of metadatas) {
      const shown = JSON.stringify(metadata).replace(
        /x{20,}/,
        (many) => `${many.length} x`,
      );
      await call(`metadata ${shown}`, "POST", config, {
        body: { metadata },
        keep: (body: Json) => {
          const kept = brief(body) as Json;
          return (
            kept &&
            JSON.parse(
              JSON.stringify(kept)
                // A suffix may begin with an x itself: it goes before they are counted.
                .replace(
                  /("|(?:"name":"|ConfigMap \\")x{57,58}|Bad_|-)[bcdfghjklmnpqrstvwxz2456789]{5}(?=\\?")/g,
                  "$1<suffix>",
                )
                .replace(/x{20,}/g, (many) => `${many.length} x`),
            )
          );
        },
      });
    }
    // Many of one prefix: none of them is refused.
    for (let at = 0; at < 3; at++)
      await call(`generated ${++number}`, "POST", config, {
        body: { metadata: { generateName: "many-" } },
        keep: (body) =>
          /^many-[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(
            body.metadata.name as string,
          ),
      });

    for (const [method, path] of [
      ["POST", config],
      ["PUT", `${config}/both`],
      ["PATCH", `${config}/both`],
    ] as const) {
      const body = {
        metadata: { name: method === "POST" ? "dry-too" : "both" },
      };
      const headers: Record<string, string> = {
        "content-type":
          method === "PATCH"
            ? "application/merge-patch+json"
            : "application/json",
      };
      for (const query of [
        "dryRun=All",
        "dryRun=all",
        "dryRun=All&dryRun=All",
        "dryRun=All&dryRun=x",
        "dryRun=true",
        "dryRun=None",
        "dryrun=All&dryRun=All",
        "fieldValidation=x&dryRun=All",
        "fieldValidation=&dryRun=All",
        "fieldValidation=Strict&fieldValidation=Ignore&dryRun=All",
        "fieldManager=&dryRun=All",
        "unknown=1&dryRun=All",
        "pretty=x&dryRun=All",
        "timeout=1s&dryRun=All",
        "timeout=x&dryRun=All",
        "timeout=-1s&dryRun=All",
        "resourceVersion=x&dryRun=All",
        "dryRun=x&fieldValidation=y&fieldManager=%00",
      ])
        await call(`${method} ${query}`, method, `${path}?${query}`, {
          body: JSON.stringify(body),
          headers,
          keep,
        });
      for (const [label, text] of Object.entries({
        nothing: undefined,
        empty: "",
        blank: " ",
        null: "null",
        "an empty object": "{}",
        list: "[]",
        text: '"x"',
        number: "1",
        true: "true",
      }))
        await call(`${method} body: ${label}`, method, path, {
          ...(text === undefined ? {} : { body: text }),
          headers,
          keep,
        });
      // Patches have rules and words of their own.
      const short = method === "PATCH" ? ({ code }: Json) => code : keep;
      await call(`${method} kind of another`, method, `${path}?dryRun=All`, {
        body: JSON.stringify({ ...body, kind: "Secret", apiVersion: "v1" }),
        headers,
        keep: short,
      });
      await call(`${method} another version`, method, `${path}?dryRun=All`, {
        body: JSON.stringify({ ...body, kind: "ConfigMap", apiVersion: "v2" }),
        headers,
        keep: short,
      });
      await call(`${method} no kind`, method, `${path}?dryRun=All`, {
        body: JSON.stringify({ ...body, apiVersion: "v1" }),
        headers,
        keep,
      });
      await call(
        `${method} in a namespace that is not there`,
        method,
        path.replace(namespace, "none"),
        { body: JSON.stringify(body), headers, keep },
      );
    }
    // What an update keeps, and what it may not change.
    await call("before", "POST", config, {
      body: {
        metadata: { name: "u", labels: { a: "b" }, finalizers: ["a.b/c"] },
        data: { k: "v" },
      },
      keep,
    });
    const { body: live } = await call("", "GET", `${config}/u`, {
      silent: true,
    });
    for (const change of [
      {},
      { creationTimestamp: "2001-01-01T00:00:00Z" },
      { creationTimestamp: null },
      { uid: "" },
      { uid },
      { generation: 9 },
      { selfLink: "x" },
      { deletionTimestamp: "2001-01-01T00:00:00Z" },
      { deletionGracePeriodSeconds: 3 },
      { generateName: "g-" },
      { finalizers: [] },
      { finalizers: ["a"] },
      { labels: null },
      { annotations: { a: "b" } },
      { name: "" },
      { namespace: "" },
      { resourceVersion: "" },
      { resourceVersion: "0" },
      { resourceVersion: "x" },
      { resourceVersion: "-1" },
      { resourceVersion: "99999999" },
      { ownerReferences: [{}] },
      { managedFields: [] },
      { managedFields: [{}] },
    ] as Json[])
      await call(`change ${JSON.stringify(change)}`, "PUT", `${config}/u`, {
        body: {
          ...live,
          metadata: {
            ...live.metadata,
            ...("resourceVersion" in change
              ? {}
              : { resourceVersion: undefined }),
            ...change,
          },
        },
        keep,
      });
    await call("immutable", "PUT", `${config}/u`, {
      body: { metadata: { name: "u" }, immutable: true, data: { k: "v" } },
      keep,
    });
    await call("immutable: data", "PUT", `${config}/u`, {
      body: { metadata: { name: "u" }, immutable: true, data: { k: "w" } },
      keep,
    });
    await call("immutable: taken back", "PUT", `${config}/u`, {
      body: { metadata: { name: "u" }, data: { k: "v" } },
      keep,
    });
    await call("immutable: labels", "PUT", `${config}/u`, {
      body: {
        metadata: { name: "u", labels: { x: "y" } },
        immutable: true,
        data: { k: "v" },
      },
      keep,
    });

    // Namespaces: theirs are rules of their own.
    const spaces = "/api/v1/namespaces";
    await call("namespace", "POST", spaces, {
      body: { metadata: { name: "ref-writing-n" } },
      keep,
    });
    await call("in it", "POST", `${spaces}/ref-writing-n/configmaps`, {
      body: { metadata: { name: "a" } },
      keep,
    });
    for (const at of [1, 2, 3])
      await call(
        `namespace: delete ${at}`,
        "DELETE",
        `${spaces}/ref-writing-n`,
        { keep },
      );
    await call(
      "in a namespace that goes",
      "POST",
      `${spaces}/ref-writing-n/configmaps`,
      { body: { metadata: { name: "b" } }, keep },
    );
    await call(
      "in a namespace that goes, dry run",
      "POST",
      `${spaces}/ref-writing-n/configmaps?dryRun=All`,
      { body: { metadata: { name: "b" } }, keep },
    );
    await call(
      "update in a namespace that goes",
      "PUT",
      `${spaces}/ref-writing-n/configmaps/a`,
      { body: { metadata: { name: "a", labels: { a: "b" } } }, keep },
    );
    await call("namespace that goes again", "POST", spaces, {
      body: { metadata: { name: "ref-writing-n" } },
      keep,
    });
    await call(
      "finalize: bad finalizer",
      "PUT",
      `${spaces}/ref-writing-n/finalize`,
      {
        body: {
          metadata: { name: "ref-writing-n" },
          spec: { finalizers: ["x"] },
        },
        keep,
      },
    );
    await call(
      "finalize: another name",
      "PUT",
      `${spaces}/ref-writing-n/finalize`,
      { body: { metadata: { name: "x" }, spec: {} }, keep },
    );
    await call("finalize", "PUT", `${spaces}/ref-writing-n/finalize`, {
      body: { metadata: { name: "ref-writing-n" }, spec: {} },
      keep,
    });
    await call("finalized", "GET", `${spaces}/ref-writing-n`, { keep });
    await call(
      "namespace: delete at last",
      "DELETE",
      `${spaces}/ref-writing-n`,
      { keep },
    );
    await call("namespace: gone", "GET", `${spaces}/ref-writing-n`, { keep });
    await call("namespace with finalizers", "POST", spaces, {
      body: {
        metadata: { name: "ref-writing-m" },
        spec: { finalizers: ["a.b/c"] },
      },
      keep: (body) => [brief(body), body.spec],
    });
    await call("PUT of spec.finalizers", "PUT", `${spaces}/ref-writing-m`, {
      body: { metadata: { name: "ref-writing-m" }, spec: { finalizers: [] } },
      keep: (body) => [brief(body), body.spec],
    });
    await call("namespace with a generated name", "POST", spaces, {
      body: { metadata: { generateName: "ref-writing-g-" } },
      keep: (body) =>
        body.metadata.labels["kubernetes.io/metadata.name"] ===
        body.metadata.name,
    });
  },
};

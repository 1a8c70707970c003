// Priority and fairness: which flow a request belongs to, conditions of schemas, refusals, dumps.
import { plain } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const group = "/apis/flowcontrol.apiserver.k8s.io/v1";

const times = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

export const flowControl: Scenario = {
  name: "flow-control",
  async run({ call, namespace }) {
    const namesByUid = new Map<string, string>();
    for (const resource of ["flowschemas", "prioritylevelconfigurations"]) {
      const { body } = await call(
        `all ${resource}`,
        "GET",
        `${group}/${resource}`,
        {
          keep: ({ items }: Json) =>
            items.map(({ metadata, spec, status }: Json) => ({
              name: metadata.name,
              annotations: metadata.annotations,
              generation: metadata.generation,
              managers: metadata.managedFields
                .map(
                  (one: Json) =>
                    `${one.manager} ${one.operation} ${one.subresource ?? ""}`,
                )
                .sort(),
              spec,
              conditions: status.conditions?.map(
                ({ lastTransitionTime, ...condition }: Json) => ({
                  ...condition,
                  timed: lastTransitionTime !== undefined,
                }),
              ),
            })),
        },
      );
      for (const { metadata } of body.items)
        namesByUid.set(metadata.uid, metadata.name);
    }
    const schema = (
      name: string,
      level: string,
      rules: object[],
      precedence = 20,
    ) => ({
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "FlowSchema",
      metadata: { name },
      spec: {
        matchingPrecedence: precedence,
        priorityLevelConfiguration: { name: level },
        distinguisherMethod: { type: "ByUser" },
        rules,
      },
    });
    const rule = (user: string, changes: object = {}) => ({
      subjects: [{ kind: "User", user: { name: user } }],
      resourceRules: [
        {
          verbs: ["*"],
          apiGroups: ["*"],
          resources: ["*"],
          clusterScope: true,
          namespaces: ["*"],
          ...changes,
        },
      ],
    });
    const make = async (resource: string, body: Json): Promise<void> => {
      const { body: made } = await call(
        `make ${body.metadata.name}`,
        "POST",
        `${group}/${resource}`,
        {
          body,
          silent: true,
        },
      );
      namesByUid.set(made.metadata.uid, made.metadata.name);
    };
    await make("prioritylevelconfigurations", {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "PriorityLevelConfiguration",
      metadata: { name: "ref-jail" },
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: 0,
          lendablePercent: 0,
          borrowingLimitPercent: 0,
          limitResponse: { type: "Reject" },
        },
      },
    });
    await make(
      "flowschemas",
      schema("ref-pods", "workload-high", [
        rule("ref-a", {
          resources: ["pods", "pods/status"],
          clusterScope: false,
        }),
      ]),
    );
    await make(
      "flowschemas",
      schema(
        "ref-first",
        "workload-low",
        [rule("ref-a", { resources: ["services"] })],
        10,
      ),
    );
    await make(
      "flowschemas",
      schema(
        "ref-second",
        "workload-high",
        [rule("ref-a", { resources: ["services"] })],
        11,
      ),
    );
    await make(
      "flowschemas",
      schema("ref-dangling", "ref-none", [rule("ref-a")], 5),
    );
    // The schemas are in effect when the last of them has its condition.
    const dangling = async (name: string): Promise<Json> => {
      for (let left = 100; ; left--) {
        const { body } = await call(
          "condition",
          "GET",
          `${group}/flowschemas/${name}`,
          { silent: true },
        );
        if (body.status?.conditions || left === 0)
          return body.status?.conditions?.[0];
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const keepCondition = {
      keep: ({ status }: Json) =>
        status.conditions?.map(
          ({ type, status: is, reason, message }: Json) => ({
            type,
            is,
            reason,
            message,
          }),
        ),
    };
    await dangling("ref-dangling");
    await dangling("ref-second");
    await call(
      "a dangling schema",
      "GET",
      `${group}/flowschemas/ref-dangling`,
      keepCondition,
    );
    await call(
      "another schema",
      "GET",
      `${group}/flowschemas/ref-pods`,
      keepCondition,
    );
    const asks: readonly (readonly [string, string, string, string[]?])[] = [
      ["GET", `/api/v1/namespaces/${namespace}/pods`, "ref-a"],
      ["GET", "/api/v1/pods", "ref-a"],
      ["GET", `/api/v1/namespaces/${namespace}/pods/none/status`, "ref-a"],
      ["GET", `/api/v1/namespaces/${namespace}/pods/none/log`, "ref-a"],
      ["GET", `/api/v1/namespaces/${namespace}/services`, "ref-a"],
      ["GET", "/version", "ref-a"],
      ["GET", "/healthz", "ref-a"],
      ["GET", "/healthz/ping", "ref-a"],
      ["GET", "/api/v1/pods", "system:kube-scheduler"],
      [
        "GET",
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/x",
        "system:kube-controller-manager",
      ],
      ["GET", "/api/v1/nodes/x", "system:node:x", ["system:nodes"]],
      ["GET", "/api/v1/pods", "system:node:x", ["system:nodes"]],
      ["GET", "/api/v1/pods", "system:serviceaccount:kube-system:x"],
      ["GET", "/api/v1/pods", "system:serviceaccount:default:x"],
      ["GET", "/api/v1/pods", "system:anonymous"],
      ["GET", "/api/v1/pods", "anybody", ["system:masters"]],
    ];
    const headers = ["flowschema", "prioritylevel"].map(
      (name) => `x-kubernetes-pf-${name}-uid`,
    );
    const flows: unknown[] = [];
    for (const [method, path, user, groups = []] of asks) {
      const answer = await call("ask", method, path, {
        silent: true,
        headers: {
          "impersonate-user": user,
          ...(groups.length > 0
            ? { "impersonate-group": groups.join(",") }
            : {}),
        },
      });
      flows.push([
        method,
        path.replace(namespace, "NS"),
        user,
        answer.status,
        ...headers.map(
          (name) => namesByUid.get(String(answer.headers[name])) ?? null,
        ),
      ]);
    }
    await call("flows", "GET", "/version", { keep: () => flows, lean: true });
    const dumps: unknown[] = [];
    for (const dump of [
      "dump_priority_levels",
      "dump_queues",
      "dump_requests",
      "dump_requests?includeRequestDetails=1",
    ]) {
      const path = `/debug/api_priority_and_fairness/${dump}`;
      const { text, headers } = await call("dump", "GET", path, {
        silent: true,
      });
      // Numbers depend on what the server did before, widths on the times.
      const rows = text
        .split("\n")
        .map((line) => line.replace(/ +/g, " ").replace(times, "<time>"));
      dumps.push([dump, headers["content-type"], rows[0]]);
      if (dump === "dump_priority_levels")
        dumps.push(rows.map((row) => row.replace(/\d+/g, "0")));
      else if (dump !== "dump_queues")
        dumps.push(rows.filter((row) => row.startsWith("exempt,")));
      else
        dumps.push(
          [...new Set(rows.map((row) => row.replace(/[\d.]+/g, "0")))].sort(),
        );
    }
    await call("dumps", "GET", "/version", { keep: () => dumps, lean: true });
    await call(
      "no dump",
      "GET",
      "/debug/api_priority_and_fairness/none",
      plain,
    );
    await call(
      "a debug page of nothing",
      "GET",
      "/debug/api_priority_and_fairness",
      plain,
    );
    for (const name of ["ref-pods", "ref-first", "ref-second", "ref-dangling"])
      await call("remove", "DELETE", `${group}/flowschemas/${name}`, {
        silent: true,
      });
    await call(
      "remove",
      "DELETE",
      `${group}/prioritylevelconfigurations/ref-jail`,
      { silent: true },
    );
  },
};

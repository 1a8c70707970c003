// FlowSchema and PriorityLevelConfiguration: defaults, what is refused, what may change.
import { createEach, plain, updateEach, each, names } from "../cases.ts";
import type { Scenario } from "../scenario.ts";

export const flowKinds: Scenario = {
  name: "flow-kinds",
  async run(server) {
    const { call } = server;
    const schema = {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "FlowSchema",
      metadata: { name: "fs-ref" },
      spec: { priorityLevelConfiguration: { name: "exempt" } },
    };
    const flows = (resource: string): string =>
      `/apis/flowcontrol.apiserver.k8s.io/v1/${resource}`;
    const flowRule = (changes: object): unknown => [
      {
        subjects: [{ kind: "User", user: { name: "u" } }],
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
        ...changes,
      },
    ];
    await createEach(server, "flowschema", flows("flowschemas"), schema, [
      ...names.slice(0, 3),
      { spec: undefined },
      ...each("spec.priorityLevelConfiguration", [
        undefined,
        {},
        { name: "A_" },
      ]),
      ...each("spec.matchingPrecedence", [0, 1, -1, 10000, 10001]),
      ...each("spec.distinguisherMethod", [
        { type: "ByUser" },
        { type: "X" },
        {},
      ]),
      ...each("spec.rules", [
        [{}],
        flowRule({}),
        flowRule({ subjects: [] }),
        flowRule({ subjects: [{ kind: "X" }] }),
        flowRule({ subjects: [{ kind: "User" }] }),
        flowRule({ subjects: [{ kind: "User", user: { name: "" } }] }),
        flowRule({
          subjects: [
            { kind: "Group", group: { name: "g" }, user: { name: "u" } },
          ],
        }),
        flowRule({
          subjects: [
            {
              kind: "ServiceAccount",
              serviceAccount: { name: "", namespace: "A_" },
            },
          ],
        }),
        flowRule({ nonResourceRules: [{ verbs: [], nonResourceURLs: [] }] }),
        flowRule({
          nonResourceRules: [
            {
              verbs: ["*", "get"],
              nonResourceURLs: ["x", "*", "/a b", "//", "/a*"],
            },
          ],
        }),
        flowRule({
          nonResourceRules: [],
          resourceRules: [
            {
              verbs: ["get"],
              apiGroups: ["*"],
              resources: ["*"],
              clusterScope: true,
            },
          ],
        }),
        flowRule({
          resourceRules: [{ verbs: [], apiGroups: [], resources: [] }],
        }),
        flowRule({
          resourceRules: [
            {
              verbs: ["X"],
              apiGroups: ["*", "a"],
              resources: ["*", "a"],
              namespaces: ["A_", "*"],
            },
          ],
        }),
      ]),
    ]);
    await updateEach(server, "flowschema", flows("flowschemas"), schema, [
      {},
      { "spec.matchingPrecedence": 5 },
      { "spec.priorityLevelConfiguration.name": "global-default" },
      { "status.conditions": [{ type: "Dangling", status: "True" }] },
    ]);
    const level = {
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "PriorityLevelConfiguration",
      metadata: { name: "pl-ref" },
      spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
    };
    await createEach(
      server,
      "prioritylevel",
      flows("prioritylevelconfigurations"),
      level,
      [
        ...names.slice(0, 3),
        { spec: undefined },
        { spec: {} },
        { "spec.type": "Exempt" },
        { "spec.type": "X" },
        { spec: { type: "Exempt" } },
        {
          spec: {
            type: "Exempt",
            exempt: { nominalConcurrencyShares: -1, lendablePercent: 101 },
          },
        },
        { spec: { type: "Limited" } },
        { "spec.exempt": {} },
        ...each("spec.limited.nominalConcurrencyShares", [0, -1, 5]),
        ...each("spec.limited.lendablePercent", [-1, 101, 50]),
        ...each("spec.limited.borrowingLimitPercent", [-1, 0, 100]),
        ...each("spec.limited.limitResponse", [
          {},
          { type: "X" },
          { type: "Queue" },
          { type: "Queue", queuing: {} },
          {
            type: "Queue",
            queuing: { queues: 8, handSize: 16, queueLengthLimit: 0 },
          },
          {
            type: "Queue",
            queuing: { queues: 0, handSize: 0, queueLengthLimit: -1 },
          },
          {
            type: "Queue",
            queuing: { queues: 10000001, handSize: 8, queueLengthLimit: 50 },
          },
          { type: "Reject", queuing: {} },
          {
            type: "Queue",
            queuing: { queues: 1000000, handSize: 30, queueLengthLimit: 5 },
          },
        ]),
      ],
    );
    await updateEach(
      server,
      "prioritylevel",
      flows("prioritylevelconfigurations"),
      level,
      [
        {},
        { "spec.limited.nominalConcurrencyShares": 5 },
        { "spec.type": "X" },
      ],
    );
    for (const version of ["v1beta1", "v1beta2", "v1beta3"])
      await call(
        `flowcontrol ${version}`,
        "GET",
        `/apis/flowcontrol.apiserver.k8s.io/${version}/flowschemas`,
        plain,
      );
  },
};

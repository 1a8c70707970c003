// Policies whose effect is tried: in the plan of the rules and by real connections. Namespaces a and b have a label `team`,
// pods labels `team` and `app`, which is their name, and ports named `web`.
import type { NetworkPolicySpec } from "../../api/types/networking-v1.ts";

/** In a namespace, for the pods of an app; "": all of them. */
type ScenarioPolicy = readonly [
  namespace: string,
  app: string,
  spec: Partial<NetworkPolicySpec>,
];

export const inTeam = (team: string): object => ({ matchLabels: { team } });
export const named = (app: string): object => ({ matchLabels: { app } });

export const policyScenarios: Readonly<
  Record<string, readonly ScenarioPolicy[]>
> = {
  "no policy": [],
  "nothing comes in": [["a", "", {}]],
  "nothing leaves": [["a", "", { policyTypes: ["Egress"] }]],
  "nothing at all": [["a", "", { policyTypes: ["Ingress", "Egress"] }]],
  "everything comes in": [["a", "", { ingress: [{}] }]],
  "a policy that selects nothing": [["a", "none", { ingress: [] }]],
  "pods of the namespace": [
    ["a", "a1", { ingress: [{ from: [{ podSelector: {} }] }] }],
  ],
  "pods by label, one protocol, one port": [
    [
      "a",
      "a1",
      {
        ingress: [
          { from: [{ podSelector: named("a2") }], ports: [{ port: 80 }] },
        ],
      },
    ],
  ],
  "every pod of a namespace": [
    ["a", "", { ingress: [{ from: [{ namespaceSelector: inTeam("b") }] }] }],
  ],
  "pods of all namespaces, not machines outside": [
    ["a", "", { ingress: [{ from: [{ namespaceSelector: {} }] }] }],
  ],
  "one pod of a namespace": [
    [
      "a",
      "",
      {
        ingress: [
          {
            from: [
              { namespaceSelector: inTeam("b"), podSelector: named("b2") },
            ],
          },
        ],
      },
    ],
  ],
  expressions: [
    [
      "a",
      "",
      {
        ingress: [
          {
            from: [
              {
                namespaceSelector: {
                  matchExpressions: [
                    { key: "team", operator: "NotIn", values: ["a"] },
                  ],
                },
                podSelector: {
                  matchExpressions: [
                    { key: "app", operator: "In", values: ["b1", "x"] },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  ],
  "addresses but for some": [
    [
      "a",
      "",
      {
        ingress: [
          {
            from: [
              { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.2/32"] } },
            ],
          },
        ],
      },
    ],
  ],
  "an address excepted here and allowed there": [
    [
      "a",
      "",
      {
        ingress: [
          {
            from: [
              { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.2/31"] } },
              { ipBlock: { cidr: "192.0.2.2/32" } },
            ],
          },
        ],
      },
    ],
  ],
  "named ports come in": [
    ["a", "", { ingress: [{ ports: [{ port: "web" }] }] }],
  ],
  "named ports go out": [
    [
      "a",
      "",
      {
        egress: [{ to: [{ namespaceSelector: {} }], ports: [{ port: "web" }] }],
      },
    ],
  ],
  "named UDP ports go out to anywhere": [
    ["a", "", { egress: [{ ports: [{ port: "web", protocol: "UDP" }] }] }],
  ],
  "named ports go out to addresses": [
    [
      "a",
      "",
      {
        egress: [
          {
            to: [{ ipBlock: { cidr: "10.42.0.4/30" } }],
            ports: [{ port: "web" }],
          },
        ],
      },
    ],
  ],
  "a range of ports": [
    [
      "a",
      "",
      {
        ingress: [
          {
            ports: [
              { port: 81, endPort: 90 },
              { port: 80, endPort: 80, protocol: "UDP" },
            ],
          },
        ],
      },
    ],
  ],
  "a protocol, and SCTP is not TCP": [
    ["a", "a1", { ingress: [{ ports: [{ protocol: "SCTP", port: 80 }] }] }],
    ["a", "a2", { ingress: [{ ports: [{ protocol: "UDP" }] }] }],
  ],
  "two policies add up": [
    [
      "a",
      "",
      { ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
    ],
    [
      "a",
      "a1",
      {
        ingress: [
          { from: [{ namespaceSelector: inTeam("b") }], ports: [{ port: 81 }] },
        ],
      },
    ],
  ],
  "both sides have a say": [
    ["a", "a1", { egress: [{ to: [{ namespaceSelector: inTeam("b") }] }] }],
    [
      "b",
      "b1",
      {
        ingress: [
          {
            from: [
              { namespaceSelector: inTeam("a"), podSelector: named("a2") },
            ],
          },
        ],
      },
    ],
  ],
  "egress to addresses and ports": [
    [
      "a",
      "",
      {
        policyTypes: ["Egress"],
        egress: [
          {
            to: [{ ipBlock: { cidr: "192.0.2.2/32" } }],
            ports: [{ port: 81 }],
          },
        ],
      },
    ],
  ],
};

// Reviews, tokens, bindings and evictions over both transports.
import type { ApiRequest } from "../../../../client/transport.ts";
import {
  core,
  of,
  pods,
  namespace,
  named,
  podSpec,
  post,
  get,
  clusterWide,
} from "../../../support/transports/requests.ts";
import {
  useTransportPair,
  type RequestTable,
} from "../../../support/transports/pair.ts";

const past: readonly ApiRequest[] = [
  post(core("serviceaccounts"), named("default")),
  post(pods, named("p", { spec: podSpec })),
];
const pair = useTransportPair(past);

const table: RequestTable = [
  [
    "a review of access",
    post(
      of("authorization.k8s.io", "subjectaccessreviews"),
      {
        spec: {
          user: "somebody",
          resourceAttributes: { verb: "get", resource: "pods", namespace },
        },
      },
      clusterWide,
    ),
    "SubjectAccessReview",
  ],
  [
    "a review in a namespace",
    post(of("authorization.k8s.io", "localsubjectaccessreviews"), {
      spec: {
        user: "somebody",
        resourceAttributes: { verb: "get", resource: "pods", namespace },
      },
    }),
    "LocalSubjectAccessReview",
  ],
  [
    "a review of nobody",
    post(
      of("authorization.k8s.io", "subjectaccessreviews"),
      { spec: {} },
      clusterWide,
    ),
    422,
  ],
  [
    "a review of oneself",
    post(of("authentication.k8s.io", "selfsubjectreviews"), {}, clusterWide),
    "SelfSubjectReview",
  ],
  [
    "a review of a token",
    post(
      of("authentication.k8s.io", "tokenreviews"),
      { spec: { token: "x" } },
      clusterWide,
    ),
    "TokenReview",
  ],
  [
    "a service account",
    post(core("serviceaccounts"), named("sa")),
    "ServiceAccount",
  ],
  [
    "a token",
    post(
      core("serviceaccounts"),
      { spec: { expirationSeconds: 3600 } },
      {
        name: "sa",
        subresource: "token",
      },
    ),
    "TokenRequest",
  ],
  [
    "a token for too short a time",
    post(
      core("serviceaccounts"),
      { spec: { expirationSeconds: 1 } },
      {
        name: "sa",
        subresource: "token",
      },
    ),
    422,
  ],
  [
    "a subresource of nothing",
    post(pods, {}, { name: "", subresource: "binding" }),
    400,
  ],
  [
    "a node for the pod",
    post(core("nodes"), { metadata: { name: "n1" } }, clusterWide),
    "Node",
  ],
  [
    "a binding",
    post(
      core("bindings"),
      named("p", { target: { kind: "Node", name: "n1" } }),
    ),
    "Status",
  ],
  [
    "a second binding",
    post(pods, named("p", { target: { kind: "Node", name: "n2" } }), {
      name: "p",
      subresource: "binding",
    }),
    409,
  ],
  [
    "a binding to no node",
    post(pods, named("p", { target: { kind: "Pod", name: "x" } }), {
      name: "p",
      subresource: "binding",
    }),
    400,
  ],
  [
    "an eviction, dry run",
    post(pods, named("p", { deleteOptions: { dryRun: ["All"] } }), {
      name: "p",
      subresource: "eviction",
    }),
    "Status",
  ],
  ["an eviction's dry run evicted nothing", get(pods, "p"), "Pod"],
  [
    "an eviction of nothing there",
    post(pods, named("none"), { name: "none", subresource: "eviction" }),
    404,
  ],
];

test.each(table)("%s", async (_name, request, want) => {
  await pair.answersAlike(request, want);
});

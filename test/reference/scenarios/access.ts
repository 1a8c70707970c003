// Roles and bindings, reviews, certificate requests, and what those are told who may not: texts of refusals.
import { createEach, plain, updateEach, each } from "../cases.ts";
import type { CallOptions, Scenario } from "../scenario.ts";

const as = (token: string): CallOptions => ({
  ...plain,
  headers:
    token === "" ? { authorization: "" } : { authorization: `Bearer ${token}` },
});
const asUser = (
  options: CallOptions,
  user: string,
  ...groups: string[]
): CallOptions => ({
  ...plain,
  ...options,
  headers: {
    ...options.headers,
    "impersonate-user": user,
    ...(groups[0] ? { "impersonate-group": groups[0] } : {}),
  },
});

export const access: Scenario = {
  name: "access",
  async run(server) {
    const { namespace, call } = server;
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const roles = `${rbac}/namespaces/${namespace}/roles`;
    const bindings = `${rbac}/namespaces/${namespace}/rolebindings`;

    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "r" },
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    };
    const ruleCases = each("rules", [
      undefined,
      [],
      [{}],
      [{ verbs: [] }],
      [{ verbs: ["get"] }],
      [{ verbs: ["get"], apiGroups: [""] }],
      [{ verbs: ["get"], resources: ["pods"] }],
      [{ verbs: ["get"], nonResourceURLs: ["/x"] }],
      [
        {
          verbs: ["get"],
          nonResourceURLs: ["/x"],
          apiGroups: [""],
          resources: ["pods"],
        },
      ],
      [{ verbs: ["get"], nonResourceURLs: ["/x"], resourceNames: ["a"] }],
      [
        {
          verbs: ["*"],
          apiGroups: ["*"],
          resources: ["*"],
          resourceNames: ["a", ""],
        },
      ],
      "x",
      [{ verbs: "get" }],
    ]);
    await createEach(server, "role", roles, role, [
      ...ruleCases,
      ...each("metadata.name", ["A_b", "a:b", "a/b", "..", "a%b", ""]),
    ]);
    await updateEach(server, "role", roles, role, [
      {},
      { rules: [] },
      { rules: [{}] },
      { "metadata.resourceVersion": undefined },
    ]);
    const clusterRole = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "ref-access" },
      rules: [{ verbs: ["get"], nonResourceURLs: ["/z"] }],
    };
    await createEach(
      server,
      "clusterrole",
      `${rbac}/clusterroles`,
      clusterRole,
      [
        ...ruleCases.slice(7, 10),
        ...each("aggregationRule", [
          {},
          { clusterRoleSelectors: [] },
          { clusterRoleSelectors: [{ matchLabels: { "a b": "c" } }] },
          { clusterRoleSelectors: [{ matchLabels: { a: "c" } }] },
          {
            clusterRoleSelectors: [
              { matchExpressions: [{ key: "a", operator: "X" }] },
            ],
          },
        ]),
      ],
    );
    const binding = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "b" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Role",
        name: "r",
      },
      subjects: [{ kind: "User", name: "u" }],
    };
    const bindingCases = [
      ...each("roleRef", [
        undefined,
        {},
        { kind: "Role", name: "r" },
        { apiGroup: "x", kind: "Role", name: "r" },
        { apiGroup: "rbac.authorization.k8s.io", kind: "Other", name: "r" },
        {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "",
        },
        {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "a/b",
        },
        {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "view",
        },
      ]),
      ...each("subjects", [
        undefined,
        [],
        [{}],
        [{ kind: "User" }],
        [{ kind: "Other", name: "x" }],
        [{ kind: "User", name: "u", apiGroup: "x" }],
        [{ kind: "Group", name: "g", apiGroup: "" }],
        [{ kind: "ServiceAccount", name: "s" }],
        [{ kind: "ServiceAccount", name: "A_", namespace: "n" }],
        [{ kind: "ServiceAccount", name: "s", namespace: "n", apiGroup: "x" }],
        [
          { kind: "Group", name: "" },
          { kind: "ServiceAccount", name: "", namespace: "" },
        ],
      ]),
    ];
    await createEach(server, "rolebinding", bindings, binding, bindingCases);
    await updateEach(server, "rolebinding", bindings, binding, [
      {},
      { "roleRef.name": "other" },
      { "roleRef.kind": "ClusterRole", subjects: [{}] },
      { subjects: [] },
      { subjects: [{ kind: "Group", name: "g" }] },
    ]);
    await createEach(
      server,
      "clusterrolebinding",
      `${rbac}/clusterrolebindings`,
      {
        ...binding,
        kind: "ClusterRoleBinding",
        metadata: { name: "ref-access" },
        roleRef: { ...binding.roleRef, kind: "ClusterRole", name: "view" },
      },
      bindingCases.slice(0, 10),
    );
    for (const version of ["v1beta1", "v1alpha1"])
      await call(
        `rbac ${version}`,
        "GET",
        `/apis/rbac.authorization.k8s.io/${version}/roles`,
        plain,
      );

    // Who may not.
    const paths: [string, string, unknown?][] = [
      ["GET", "/api/v1/pods"],
      ["GET", `/api/v1/namespaces/${namespace}/pods`],
      ["GET", `/api/v1/namespaces/${namespace}/pods/x`],
      ["GET", `/api/v1/namespaces/${namespace}/pods/x/log`],
      ["GET", `/api/v1/namespaces/${namespace}/pods?watch=1`],
      ["POST", `/api/v1/namespaces/${namespace}/pods`, {}],
      ["PUT", `/api/v1/namespaces/${namespace}/pods/x`, {}],
      ["PATCH", `/api/v1/namespaces/${namespace}/pods/x`, {}],
      ["DELETE", `/api/v1/namespaces/${namespace}/pods/x`],
      ["DELETE", `/api/v1/namespaces/${namespace}/pods`],
      ["POST", `/api/v1/namespaces/${namespace}/pods/x/exec?command=a`],
      ["POST", `/api/v1/namespaces/${namespace}/pods/x/eviction`, {}],
      ["GET", "/api/v1/nodes/n"],
      ["GET", `/api/v1/namespaces/${namespace}`],
      ["POST", "/api/v1/namespaces", {}],
      ["GET", "/apis/apps/v1/deployments"],
      ["PUT", `/apis/apps/v1/namespaces/${namespace}/deployments/d/scale`, {}],
      [
        "PATCH",
        `/apis/apps/v1/namespaces/${namespace}/deployments/d/status`,
        {},
      ],
      ["GET", "/apis/none/v1/things"],
      ["GET", "/apis/apps/v1/nothings"],
      ["GET", "/metrics"],
      ["GET", "/logs"],
      ["GET", "/version"],
      ["GET", "/healthz"],
      ["GET", "/api"],
      ["GET", "/openapi/v2x"],
      ["POST", "/x"],
      ["GET", "/"],
    ];
    for (const token of ["nobody", "", "wrong"])
      for (const [method, path, body] of token === "wrong"
        ? paths.slice(0, 3)
        : paths)
        await call(`${token || "anonymous"} ${method} ${path}`, method, path, {
          ...as(token),
          ...(body === undefined ? {} : { body }),
          keep: (answer) =>
            answer?.kind === "Status" ? answer : typeof answer,
          ...(body === undefined
            ? {}
            : {
                headers: {
                  ...as(token).headers,
                  "content-type":
                    method === "PATCH"
                      ? "application/merge-patch+json"
                      : "application/json",
                },
              }),
        });

    // Nobody grants more than they have.
    await call("", "POST", `${rbac}/clusterroles`, {
      silent: true,
      body: {
        metadata: { name: "ref-granter" },
        rules: [
          {
            verbs: ["*"],
            apiGroups: ["rbac.authorization.k8s.io"],
            resources: [
              "roles",
              "clusterroles",
              "rolebindings",
              "clusterrolebindings",
            ],
          },
          { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
        ],
      },
    });
    await call("", "POST", `${rbac}/clusterrolebindings`, {
      silent: true,
      body: {
        metadata: { name: "ref-granter" },
        roleRef: {
          apiGroup: "rbac.authorization.k8s.io",
          kind: "ClusterRole",
          name: "ref-granter",
        },
        subjects: [{ kind: "User", name: "alice" }],
      },
    });
    const json = { "content-type": "application/json", ...as("alice").headers };
    await new Promise((resolve) => setTimeout(resolve, 300));
    const grants: [string, string, unknown][] = [
      [
        "a role within",
        roles,
        {
          metadata: { name: "g1" },
          rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
        },
      ],
      [
        "a wider role",
        roles,
        {
          metadata: { name: "g2" },
          rules: [
            {
              verbs: ["get", "list"],
              apiGroups: [""],
              resources: ["pods", "secrets"],
            },
          ],
        },
      ],
      [
        "a much wider role",
        roles,
        {
          metadata: { name: "g3" },
          rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        },
      ],
      [
        "a role of names",
        roles,
        {
          metadata: { name: "g4" },
          rules: [
            {
              verbs: ["get"],
              apiGroups: [""],
              resources: ["secrets"],
              resourceNames: ["a", "b"],
            },
          ],
        },
      ],
      [
        "a clusterrole of urls",
        `${rbac}/clusterroles`,
        {
          metadata: { name: "g5" },
          rules: [{ verbs: ["get"], nonResourceURLs: ["/x", "/y"] }],
        },
      ],
      [
        "an aggregate",
        `${rbac}/clusterroles`,
        {
          metadata: { name: "g6" },
          aggregationRule: {
            clusterRoleSelectors: [{ matchLabels: { a: "b" } }],
          },
        },
      ],
      [
        "a binding within",
        bindings,
        {
          metadata: { name: "g7" },
          roleRef: {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "Role",
            name: "r",
          },
          subjects: [{ kind: "User", name: "u" }],
        },
      ],
      [
        "a wider binding",
        bindings,
        {
          metadata: { name: "g8" },
          roleRef: {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "ClusterRole",
            name: "cluster-admin",
          },
          subjects: [{ kind: "User", name: "u" }],
        },
      ],
      [
        "a binding to nothing",
        bindings,
        {
          metadata: { name: "g9" },
          roleRef: {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "Role",
            name: "none",
          },
          subjects: [{ kind: "User", name: "u" }],
        },
      ],
      [
        "a cluster binding",
        `${rbac}/clusterrolebindings`,
        {
          metadata: { name: "g10" },
          roleRef: {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "ClusterRole",
            name: "system:basic-user",
          },
          subjects: [{ kind: "User", name: "u" }],
        },
      ],
    ];
    for (const [label, path, body] of grants)
      await call(`alice grants ${label}`, "POST", `${path}?dryRun=All`, {
        ...plain,
        body,
        headers: json,
        keep: (answer) =>
          answer?.kind === "Status" ? answer : answer?.metadata?.name,
      });
    await call(
      "alice widens her role",
      "PUT",
      `${rbac}/clusterroles/ref-granter?dryRun=All`,
      {
        ...plain,
        headers: json,
        body: {
          metadata: { name: "ref-granter" },
          rules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
        },
      },
    );
    await call(
      "alice acts as another",
      "GET",
      `/api/v1/namespaces/${namespace}/pods`,
      asUser(as("alice"), "bob", "system:masters"),
    );
    await call(
      "nobody by impersonation",
      "GET",
      "/api/v1/pods",
      asUser({}, "bob", "devs"),
    );
    await call(
      "an account by impersonation",
      "GET",
      "/api/v1/pods",
      asUser({}, "system:serviceaccount:a:b"),
    );

    // Reviews.
    const review = async (
      label: string,
      group: string,
      resource: string,
      body: unknown,
      options: CallOptions = plain,
    ): Promise<void> => {
      await call(label, "POST", `/apis/${group}/v1/${resource}`, {
        ...options,
        headers: { ...options.headers, "content-type": "application/json" },
        body,
      });
    };
    const auth = "authorization.k8s.io";
    const specs: [string, unknown][] = [
      [
        "pods",
        { resourceAttributes: { verb: "get", resource: "pods", namespace } },
      ],
      ["all", { resourceAttributes: { verb: "*", resource: "*", group: "*" } }],
      ["url", { nonResourceAttributes: { verb: "get", path: "/apis" } }],
      ["closed url", { nonResourceAttributes: { verb: "get", path: "/x" } }],
      ["nothing", {}],
      [
        "both",
        {
          resourceAttributes: { verb: "get", resource: "pods" },
          nonResourceAttributes: { verb: "get", path: "/" },
        },
      ],
      [
        "field selector",
        {
          resourceAttributes: {
            verb: "list",
            resource: "pods",
            fieldSelector: { rawSelector: "spec.nodeName=n" },
          },
        },
      ],
      [
        "bad selectors",
        {
          resourceAttributes: {
            verb: "list",
            resource: "pods",
            fieldSelector: {
              rawSelector: "a=b",
              requirements: [{ key: "a", operator: "In", values: ["b"] }],
            },
            labelSelector: { requirements: [{ key: "", operator: "X" }] },
          },
        },
      ],
    ];
    for (const [label, spec] of specs) {
      await review(
        `self review of ${label}`,
        auth,
        "selfsubjectaccessreviews",
        { spec },
      );
      await review(
        `alice's self review of ${label}`,
        auth,
        "selfsubjectaccessreviews",
        { spec },
        as("alice"),
      );
      await review(
        `review of alice for ${label}`,
        auth,
        "subjectaccessreviews",
        { spec: { ...(spec as object), user: "alice" } },
      );
      await review(
        `review of nobody given for ${label}`,
        auth,
        "subjectaccessreviews",
        { spec },
      );
      await review(
        `local review for ${label}`,
        `authorization.k8s.io`,
        `namespaces/${namespace}/localsubjectaccessreviews`,
        { spec: { ...(spec as object), user: "alice" } },
      );
      if (label === "pods")
        await call(
          `local review in place for ${label}`,
          "POST",
          `/apis/${auth}/v1/namespaces/${namespace}/localsubjectaccessreviews`,
          {
            ...plain,
            body: {
              metadata: { namespace },
              spec: {
                ...(spec as object),
                user: "alice",
                groups: ["g"],
                extra: { a: ["b"] },
              },
            },
          },
        );
    }
    await review(
      "rules review",
      auth,
      "selfsubjectrulesreviews",
      { spec: { namespace } },
      {
        ...as("alice"),
        // In which order rules are listed changes from run to run.
        keep: (body) => [body.spec, body.status?.incomplete],
      },
    );
    await review(
      "rules review without a namespace",
      auth,
      "selfsubjectrulesreviews",
      { spec: {} },
      as("alice"),
    );
    const authentication = "authentication.k8s.io";
    for (const spec of [
      {},
      { token: "" },
      { token: "alice" },
      { token: "wrong" },
      { token: "t", audiences: ["https://kubernetes.default.svc"] },
    ])
      await review(
        `token review ${JSON.stringify(spec)}`,
        authentication,
        "tokenreviews",
        { spec },
      );
    await review(
      "self review",
      authentication,
      "selfsubjectreviews",
      {},
      as("alice"),
    );
    await review(
      "anonymous self review",
      authentication,
      "selfsubjectreviews",
      {},
      as(""),
    );
    await review(
      "impersonated self review",
      authentication,
      "selfsubjectreviews",
      {},
      asUser({}, "bob", "devs"),
    );
    for (const path of [
      `${auth}/v1beta1/subjectaccessreviews`,
      `${authentication}/v1beta1/tokenreviews`,
      `${authentication}/v1alpha1/selfsubjectreviews`,
      `${authentication}/v1beta1/selfsubjectreviews`,
    ])
      await call(path, "POST", `/apis/${path}`, { ...plain, body: {} });
    await call(
      "reading reviews",
      "GET",
      `/apis/${auth}/v1/subjectaccessreviews`,
      plain,
    );
    await call(
      "deleting reviews",
      "DELETE",
      `/apis/${authentication}/v1/tokenreviews/x`,
      plain,
    );

    // Certificate requests.
    const pem =
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISU1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RGNtVm1NRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRApRZ0FFNzN3RXlGdy9TaWdoREJBVXlkVXdxREo0SFByKzcxbUhlbUI4T0dCeldiMFIzMHpHY25YNFZRbXZCVVRmCkNVNjdhM09zbE5xTGxQUlhIN1FNL004S0NhQUFNQW9HQ0NxR1NNNDlCQU1DQTBnQU1FVUNJRjRNWEIvdklxVisKdUpkekdJbC9kd3h2ZnJ1RlZqdDZHQWg4b3pWM2RSZTRBaUVBK3J0WWR4b2c2K09WZlNlYUJiNllJSmlQd3FoYwpjY0V3cHhscWtwYUtBTDg9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
    const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    const request = {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "ref-csr" },
      spec: { request: pem, signerName: "a.b/c", usages: ["client auth"] },
    };
    await createEach(server, "csr", requests, request, [
      ...each("spec.signerName", [
        "",
        undefined,
        "a",
        "a/b",
        "a.b/",
        "A.b/c",
        "kubernetes.io/legacy-unknown",
        "kubernetes.io/kube-apiserver-client",

        "a.b/c/d",
      ]),
      ...each("spec.usages", [
        undefined,
        [],
        ["x"],
        ["client auth", "client auth"],
        ["any"],
      ]),
      ...each("spec.expirationSeconds", [599, 600, -1]),
      ...each("spec.request", ["eA==", undefined]),
      { "spec.username": "x", "spec.groups": ["y"], "spec.uid": "z" },
      { status: { certificate: "eA==" } },
      ...each("metadata.name", ["A_b", "a.b"]),
      { spec: undefined },
    ]);
    await updateEach(server, "csr", requests, request, [
      {},
      { "spec.signerName": "d.e/f" },
      { "spec.usages": ["any"] },
      { "metadata.labels": { a: "b" } },
      { "status.certificate": "eA==" },
    ]);
    const condition = (type: string, more: object = {}): unknown => [
      { type, status: "True", reason: "r", ...more },
    ];
    await updateEach(
      server,
      "csr",
      requests,
      request,
      each("status.conditions", [
        condition("Approved"),
        condition("Denied"),
        condition("Failed"),
        condition("Other"),
        condition("", { status: "" }),
        condition("Approved", { status: "False" }),
        [
          ...(condition("Approved") as unknown[]),
          ...(condition("Denied") as unknown[]),
        ],
        [
          ...(condition("Approved") as unknown[]),
          ...(condition("Approved") as unknown[]),
        ],
        [],
        condition("Approved", { status: "Perhaps" }),
      ]).map((changes) => changes),
      "approval",
    );
    await updateEach(
      server,
      "csr",
      requests,
      request,
      [
        { "status.certificate": "eA==" },
        { "status.certificate": "" },
        { "status.conditions": condition("Failed") },
        { "status.conditions": condition("Approved") },
        { "status.conditions": condition("Other") },
        { "spec.usages": ["any"] },
      ],
      "status",
    );
    await call("csr deleted", "DELETE", `${requests}/ref-csr`, plain);
    for (const version of ["v1beta1", "v1alpha1"])
      await call(
        `certificates ${version}`,
        "GET",
        `/apis/certificates.k8s.io/${version}/certificatesigningrequests`,
        plain,
      );
    await call("", "DELETE", `${rbac}/clusterrolebindings/ref-granter`, {
      silent: true,
    });
  },
};

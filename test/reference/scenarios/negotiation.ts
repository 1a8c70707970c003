// Content negotiation: every way to ask for an encoding and a shape, at every kind of endpoint; every way to declare one.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const asTable = ";as=Table;v=v1;g=meta.k8s.io";
const accepts = [
  "",
  "*/*",
  "application/*",
  "text/*",
  "text/plain",
  "text/html",
  "application/json",
  "APPLICATION/JSON",
  "application/json;charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;q=0.5,application/yaml",
  "application/json;q=0,application/yaml;q=0.1",
  "application/json;q=0",
  "application/json;q=abc",
  "application/json;q=2,application/yaml",
  "application/yaml",
  "application/yaml;q=0.9, application/json;q=0.8",
  "application/json;q=0.8, application/yaml;q=0.8",
  "text/html, application/yaml;q=0.2",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "application/*;q=0.3, application/yaml;q=0.2",
  "application/vnd.kubernetes.protobuf",
  "application/vnd.kubernetes.protobuf,application/json",
  "application/vnd.kubernetes.protobuf;type=v1.Pod",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/json;stream=watch",
  "application/json;stream=other",
  "application/yaml;stream=watch",
  "application/cbor",
  "application/cbor,application/json",
  "application/cbor-seq",
  `application/json${asTable}`,
  "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
  "application/json;as=Table;v=v1alpha1;g=meta.k8s.io",
  "application/json;as=Table;v=v2;g=meta.k8s.io",
  "application/json;as=Table;g=meta.k8s.io",
  "application/json;as=Table",
  "application/json;as=Table;v=v1",
  "application/json;as=Table;v=v1;g=other.io",
  "application/json;as=table;v=v1;g=meta.k8s.io",
  "application/json;as=;v=v1;g=meta.k8s.io",
  "application/json;v=v1;g=meta.k8s.io",
  `application/yaml${asTable}`,
  `application/vnd.kubernetes.protobuf${asTable}`,
  `*/*${asTable}`,
  `application/json${asTable},application/json`,
  "application/json;as=Table;v=v1alpha1;g=meta.k8s.io,application/json",
  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io",
  "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  "application/json;as=ConfigMap;v=v1;g=",
  "application/json;as=Status;v=v1;g=meta.k8s.io",
  "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io",
  "application/json;pretty=1",
  "application/json;pretty=0",
  "application/yaml;pretty=1",
  "application",
  "application/",
  "/json",
  "/",
  ";",
  ",",
  ",application/yaml",
  "application/json;",
  "application/json;;q=1",
  "application/json;=x",
  "application/json;q",
  'application/json;charset="utf-8"',
  "application/json application/yaml",
  "*",
  "*/json",
  "json",
  "application/json;q=0.5;as=Table;v=v1;g=meta.k8s.io",
  `${"x/y,".repeat(40)}application/yaml`,
  "application/x-json",
  "application/apply-patch+yaml",
];

/** Ways to write a header that are tried at few places only. */
const subtle =
  /v1beta1|v1alpha1|v2;|charset|^[;,/*]|json;=|;;|q=abc|x\/y|type=|apply|pretty|;$|as=;|json;q$|^application\/?$|q=0\.[5389];|html,|x-json|^json|cbor-seq|,application\/json$/;

const contentTypes = [
  undefined,
  "",
  "*/*",
  "application/*",
  "application/json",
  "APPLICATION/json",
  "application/json; charset=utf-8",
  "application/json;charset=latin1",
  "application/json;",
  "application/json;;",
  "application/json;as=Table;v=v1;g=meta.k8s.io",
  "application/json, application/yaml",
  "application/json;stream=watch",
  "application/yaml",
  "application/yaml;charset=utf-8",
  "application/x-yaml",
  "text/yaml",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "application/cbor-seq",
  "application",
  "application/",
  "json",
  ";",
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
  "application/apply-patch+yaml",
  "application/apply-patch+cbor",
  "application/merge-patch+json;charset=utf-8",
  "application/MERGE-patch+json",
];

/** The shape of an answer without its content. */
function shape(body: Json): Json {
  if (typeof body === "string") return body.split("\n", 2).join("|");
  const { base64, kind, apiVersion, status, message, items } = body;
  if (base64 !== undefined)
    return Buffer.from(base64 as string, "base64")
      .subarray(0, 4)
      .toString("latin1");
  if (status === "Failure") return message as unknown;
  const of = items ? ` of ${items[0]?.kind ?? "no kind"}` : "";
  return `${apiVersion} ${kind}${of}`;
}

export const negotiation: Scenario = {
  name: "negotiation",
  async run({ namespace, call }) {
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await call("", "POST", all, {
      body: { metadata: { name: "a" }, data: { k: "v" } },
      silent: true,
    });
    await call(
      "",
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      { silent: true, body: {} },
    );
    const places: [string, string, string, unknown?][] = [
      ["object", "GET", `${all}/a`],
      ["list", "GET", all],
      ["missing", "GET", `${all}/none`],
      ["status", "GET", `/api/v1/namespaces/${namespace}/status`],
      ["create", "POST", `${all}?dryRun=All`, { metadata: { name: "b" } }],
      ["delete", "DELETE", `${all}/a?dryRun=All`],
      ["deletecollection", "DELETE", `${all}?dryRun=All`],
      ["discovery", "GET", "/api/v1"],
      ["groups", "GET", "/apis"],
      ["version", "GET", "/version"],
    ];
    for (const [what, method, path, body] of places)
      for (const accept of what === "object" || what === "list"
        ? accepts
        : accepts.filter((one) => !subtle.test(one)))
        await call(`${what}: ${accept}`, method, path, {
          headers: { accept },
          ...(body ? { body } : {}),
          keep: shape,
        });
    for (const accept of accepts)
      await call(`watch: ${accept}`, "GET", `${all}?watch=1&timeoutSeconds=1`, {
        headers: { accept },
        timeoutMs: 40,
        keep: () => undefined,
      });
    const json = JSON.stringify({ metadata: { name: "b" } });
    const bodies: [string, string, string, string][] = [
      ["create", "POST", `${all}?dryRun=All`, json],
      ["delete", "DELETE", `${all}/a`, '{"dryRun":["All"]}'],
      ["deletecollection", "DELETE", all, '{"dryRun":["All"]}'],
      [
        "patch",
        "PATCH",
        `${all}/a?dryRun=All&fieldManager=x`,
        '{"data":{"a":"b"}}',
      ],
      [
        "review",
        "POST",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        '{"spec":{}}',
      ],
    ];
    for (const [what, method, path, body] of bodies)
      for (const type of contentTypes)
        await call(`${what} as ${type}`, method, path, {
          body,
          headers: type === undefined ? {} : { "content-type": type },
          // What is said of a patch is another scenario's matter.
          keep: (answer) =>
            what === "patch" && answer.code === 400 ? undefined : shape(answer),
        });
  },
};

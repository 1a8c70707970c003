// What is said of fields nobody knows and keys given twice, in JSON and YAML; numbers of every writing; nulls.
import type { Scenario } from "../scenario.ts";
import { container, keeping } from "./patching.ts";

const head = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"}';

/** JSON bodies of a ConfigMap. */
const texts: Record<string, string> = {
  clean: `{${head}}`,
  "an unknown field": `{${head},"foo":1}`,
  "unknown fields": `{"zeta":1,${head},"alpha":{"beta":1},"data":{"a":"b"},"mid":[]}`,
  "unknown in metadata": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","foo":1,"labels":{"x":"y"}}}`,
  "another case": `{${head},"Data":{"a":"b"},"DATA":{"c":"d"}}`,
  "another case of kind": `{"apiVersion":"v1","Kind":"ConfigMap","metadata":{"name":"n"}}`,
  "a key twice": `{${head},"data":{"a":"b","a":"c"}}`,
  "a field twice": `{${head},"data":{"a":"b"},"data":{"c":"d"}}`,
  "a field three times": `{${head},"immutable":true,"immutable":false,"immutable":false}`,
  "twice and unknown": `{${head},"foo":1,"data":{"a":"b","a":"c"},"bar":2,"foo":3}`,
  "kind twice": `{${head},"kind":"ConfigMap"}`,
  "twice within unknown": `{${head},"foo":{"a":1,"a":2}}`,
  "null fields": `{${head},"data":null,"immutable":null,"binaryData":{"a":null}}`,
  "a null value": `{${head},"data":{"a":null}}`,
  "metadata null": `{"apiVersion":"v1","kind":"ConfigMap","metadata":null}`,
  "labels null": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n","labels":null,"finalizers":null,"annotations":{"a":null}}}`,
  "a number for text": `{${head},"data":{"a":1}}`,
  "true for text": `{${head},"data":{"a":true}}`,
  "text for true": `{${head},"immutable":"true"}`,
  "a huge unknown number": `{${head},"foo":123456789012345678901234567890}`,
};

const yamls: Record<string, string> = {
  "an unknown field":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\nfoo: 1\n",
  "a key twice":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\ndata:\n  a: b\n  a: c\n",
  "twice and unknown":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\nfoo: 1\ndata:\n  a: b\n  a: c\nbar: 1\nkind: ConfigMap\n",
  "yes for text":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: text\ndata:\n  a: yes\n",
};

/** Specs of a Deployment's pods, as text. */
const specs: Record<string, string> = {
  "unknown in lists": `"containers":[{"name":"a","image":"x","imag":"y","ports":[{"containerPort":1,"foo":1}]},{"name":"b","image":"x","env":[{"name":"A","valu":"1"}]}]`,
  "twice in lists": `"containers":[{"name":"a","image":"x","image":"y"}]`,
  "a fraction": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":1.5`,
  "a whole fraction": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":3.0`,
  "an exponent": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":3e1`,
  "text for a number": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":"3"`,
  "minus zero": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":-0`,
  "beyond 64 bits": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":9223372036854775808`,
  "beyond -64 bits": `"containers":[{"name":"a","image":"x"}],"terminationGracePeriodSeconds":-9223372036854775809`,
  "beyond 32 bits": `"containers":[{"name":"a","image":"x","ports":[{"containerPort":4294967296}]}]`,
  "an int for text": `"containers":[{"name":"a","image":1}]`,
  "a port by fraction": `"containers":[{"name":"a","image":"x","livenessProbe":{"httpGet":{"port":80.5}}}]`,
  "a port by whole fraction": `"containers":[{"name":"a","image":"x","livenessProbe":{"httpGet":{"port":80.0}}}]`,
  "a port by true": `"containers":[{"name":"a","image":"x","livenessProbe":{"httpGet":{"port":true}}}]`,
  "a huge port": `"containers":[{"name":"a","image":"x","livenessProbe":{"httpGet":{"port":4294967296}}}]`,
  quantities: `"containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":1.50,"memory":1e9}}}]`,
  "a quantity true": `"containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":true}}}]`,
  "a quantity null": `"containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":null}}}]`,
  "a null item": `"containers":[null]`,
  "null required": `"containers":null`,
  "null optional": `"containers":[{"name":"a","image":"x","args":null,"securityContext":null,"stdin":null}],"volumes":null,"dnsPolicy":null`,
  "a null in a list of texts": `"containers":[{"name":"a","image":"x","args":["a",null]}]`,
  "text for a list": `"containers":"x"`,
  "a list for a map": `"containers":[{"name":"a","image":"x"}],"nodeSelector":[]`,
  "text for a map": `"containers":[{"name":"a","image":"x"}],"securityContext":"x"`,
};

export const fieldValidation: Scenario = {
  name: "field-validation",
  async run({ namespace, call }) {
    const all = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
    const keep = keeping(({ data, binaryData, immutable, metadata }) => ({
      data,
      binaryData,
      immutable,
      annotations: metadata.annotations,
    }));
    const modes = ["", "Strict", "Ignore"];
    for (const [kind, bodies] of [
      ["json", texts],
      ["yaml", yamls],
    ] as const)
      for (const [label, body] of Object.entries(bodies))
        for (const mode of modes)
          await call(
            `${kind}: ${label} ${mode}`,
            "POST",
            `${all}&fieldValidation=${mode}`,
            {
              body,
              headers: { "content-type": `application/${kind}` },
              keep,
            },
          );
    const many = Array.from({ length: 150 }, (_, n) => `"f${n}":1`).join(",");
    for (const mode of modes)
      await call(
        `many unknown ${mode}`,
        "POST",
        `${all}&fieldValidation=${mode}`,
        {
          body: `{${head},${many}}`,
          headers: { "content-type": "application/json" },
          keep: keeping(() => undefined),
        },
      );
    await call("long unknown", "POST", all, {
      body: `{${head},${Array.from({ length: 12 }, (_, n) => `"${`${n}`.repeat(500)}":1`).join(",")}}`,
      headers: { "content-type": "application/json" },
      keep: keeping(() => undefined),
    });
    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments?dryRun=All`;
    for (const [label, spec] of Object.entries(specs))
      for (const mode of /unknown|twice/.test(label) ? modes : [""])
        await call(
          `deployment: ${label} ${mode}`,
          "POST",
          `${apps}&fieldValidation=${mode}`,
          {
            body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{${spec}}}}}`,
            headers: { "content-type": "application/json" },
            keep: keeping(({ spec: { template } }) => ({
              grace: template.spec.terminationGracePeriodSeconds,
              args: template.spec.containers[0].args,
              probe: template.spec.containers[0].livenessProbe?.httpGet?.port,
              resources: template.spec.containers[0].resources,
            })),
          },
        );
    const put = `/api/v1/namespaces/${namespace}/configmaps/n`;
    await call("made", "POST", all.replace("?dryRun=All", ""), {
      silent: true,
      body: { metadata: { name: "n" } },
    });
    for (const label of ["unknown fields", "twice and unknown"])
      for (const mode of modes)
        await call(
          `put: ${label} ${mode}`,
          "PUT",
          `${put}?dryRun=All&fieldValidation=${mode}`,
          {
            body: texts[label],
            headers: { "content-type": "application/json" },
            keep,
          },
        );
    await call(
      "status with unknown fields",
      "PUT",
      `/api/v1/namespaces/${namespace}/status?dryRun=All&fieldValidation=Strict`,
      {
        body: { metadata: { name: namespace }, status: { foo: 1 }, bar: 2 },
        keep: keeping(() => undefined),
      },
    );
    await call(
      "scale with unknown fields",
      "PUT",
      `${apps.replace("?", "/none/scale?")}&fieldValidation=Strict`,
      {
        body: { metadata: { name: "none" }, spec: { replica: 1 } },
        keep: keeping(() => undefined),
      },
    );
    await call(
      "an eviction with unknown fields",
      "POST",
      `/api/v1/namespaces/${namespace}/pods/none/eviction?fieldValidation=Strict`,
      {
        body: { metadata: { name: "none" }, foo: container("x") },
        keep: keeping(() => undefined),
      },
    );
  },
};

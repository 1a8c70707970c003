// Label and field selectors: which fields each kind knows, what is refused and in which words, what odd texts select.
import type { Json } from "../normalise.ts";
import type { Scenario } from "../scenario.ts";

const groups = [
  "",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "apps",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
];

/** Of any kind. */
const fields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.labels",
  "name",
  "spec.nodeName",
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "spec.hostNetwork",
  "spec.unschedulable",
  "spec.clusterIP",
  "spec.type",
  "spec.signerName",
  "spec.replicas",
  "status.phase",
  "status.podIP",
  "status.podIPs",
  "status.nominatedNodeName",
  "status.replicas",
  "status.successful",
  "type",
  "reason",
  "reportingComponent",
  "reportingController",
  "source",
  "action",
  "note",
  "message",
  "count",
  "involvedObject.kind",
  "involvedObject.namespace",
  "involvedObject.name",
  "involvedObject.uid",
  "involvedObject.apiVersion",
  "involvedObject.resourceVersion",
  "involvedObject.fieldPath",
  "regarding.kind",
  "regarding.namespace",
  "regarding.name",
  "regarding.uid",
  "regarding.apiVersion",
  "regarding.resourceVersion",
  "regarding.fieldPath",
  "",
];

const labelSelectors = [
  "",
  " ",
  ",",
  ",,",
  "a",
  "!a",
  "!!a",
  "! a",
  "a,b",
  "a,",
  ",a",
  "a,,b",
  "a=",
  "a==",
  "a!=",
  "a=,b=",
  "=a",
  "==",
  "=",
  "!=a",
  "!",
  "a=b",
  "a==b",
  "a!=b",
  "a = b",
  "  a  =  b  ",
  "a=b=c",
  "a===b",
  "a=!b",
  "a!=!b",
  "a=b c",
  "a b",
  "a=b,a=c",
  "a=b,a!=b",
  "a in (b)",
  "a in (b,c)",
  "a in ( b , c )",
  "a in ()",
  "a in (,)",
  "a in (b,)",
  "a in (,b)",
  "a in b",
  "a in",
  "a in (b",
  "a in b)",
  "a in (b))",
  "a in (b c)",
  "a in (b=c)",
  "a notin (b)",
  "a notin (b,c)",
  "a notin ()",
  "a notin",
  "a NOTIN (b)",
  "a In (b)",
  "!a in (b)",
  "a not in (b)",
  "a in (b),c notin (d),!e,f",
  "in",
  "notin",
  "in in (in)",
  "notin notin (notin)",
  "in=in",
  "exists",
  "a exists",
  "a>1",
  "a<1",
  "a>b",
  "a<b",
  "a>",
  "a<",
  "a>1,a<9",
  "a>=1",
  "a<=1",
  "a>-1",
  "a>1.5",
  "a>9223372036854775808",
  "a>1 2",
  "A=b",
  "a=B",
  "a/b=c",
  "a.b/c=d",
  "/a=b",
  "a/=b",
  "a/b/c=d",
  "a//b=c",
  "A.b/c=d",
  "a_b=c",
  "-a=b",
  "a-=b",
  ".a=b",
  "a..b/c=d",
  "a..b=c",
  "a=-b",
  "a=b-",
  "a=b_",
  "a=b/c",
  "a=b.c",
  "a=b:c",
  "a=@b",
  "a=b\\,c",
  "a='b'",
  'a="b"',
  "a=b;c",
  "a&b",
  "a|b",
  "a=*",
  "*",
  "a=b*",
  "(a)",
  "(a=b)",
  "a=(b)",
  "a)",
  "(",
  "ä=b",
  "a=ä",
  "a=b\u0000",
  "a=b\n",
  "\ta\t=\tb",
  "a\nin\n(b)",
  "😀",
  "a in (\u00e4)",
  "a in (-b)",
  "a notin (b/c)",
  "a=b,ä",
  "a in (b), a in (c)",
  "x in (y,z),a=b",
];
const long = [
  `${"a".repeat(63)}=b`,
  `${"a".repeat(64)}=b`,
  `a=${"b".repeat(63)}`,
  `a=${"b".repeat(64)}`,
  `${"a".repeat(253)}/b`,
  `${"a".repeat(254)}/b`,
];

const fieldSelectors = [
  "",
  ",",
  ",,",
  "metadata.name",
  "metadata.name=",
  "metadata.name==",
  "metadata.name!=",
  "=a",
  "==a",
  "!=a",
  "=",
  "!=",
  "!",
  "a=",
  "metadata.name=a",
  "metadata.name==a",
  "metadata.name!=a",
  "metadata.name=!a",
  "metadata.name===a",
  "metadata.name=a=b",
  "metadata.name=a,",
  ",metadata.name=a",
  "metadata.name=a,,metadata.namespace!=b",
  "metadata.name=a,metadata.name=b",
  "metadata.name=a,metadata.name=a",
  "metadata.name=a,metadata.name!=a",
  "metadata.name!=a,metadata.name!=b",
  " metadata.name=a",
  "metadata.name =a",
  "metadata.name= a",
  "metadata.name=a ",
  "metadata.name in (a)",
  "metadata.name>a",
  "!metadata.name",
  "Metadata.Name=a",
  "metadata..name=a",
  ".metadata.name=a",
  "metadata.name.=a",
  "metadata.name=a\\,b",
  "metadata.name=a\\=b",
  "metadata.name=a\\\\b",
  "metadata.name=a\\b",
  "metadata.name=a\\",
  "metadata.name=\\",
  "metadata\\.name=a",
  "metadata.name\\=a",
  "metadata.name\\,=a",
  "metadata.name=a/b",
  "metadata.name=..",
  "metadata.name=A",
  "metadata.name=ä",
  "metadata.name=😀",
  "metadata.name=%41",
  "metadata.name=a\u0000",
  "metadata.name=*",
  "metadata.namespace=none",
  "metadata.namespace=ref-selectors",
  "metadata.namespace!=ref-selectors",
  "metadata.namespace=",
  "metadata.name=a,metadata.namespace=none",
  "data.k=v",
  "metadata.labels.a=b",
  "spec.nodeName=x,metadata.name=a",
  "metadata.name=a,spec.nodeName=x",
  "spec.nodeName=a,status.phase=b",
];

export const selectors: Scenario = {
  name: "selectors",
  async run({ namespace, call }) {
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    for (const [name, labels] of Object.entries({
      none: {},
      ab: { a: "b" },
      ac: { a: "c", b: "" },
      empty: { a: "" },
      number: { a: "5", "a.b/c": "d" },
      negative: { a: "x5", in: "in", notin: "notin" },
      other: { x: "y", f: "g", c: "e" },
    }))
      await call("", "POST", all, {
        silent: true,
        body: { metadata: { name, labels } },
      });
    await call("", "POST", all, {
      silent: true,
      body: { metadata: { name: "a" } },
    });
    const short = (body: Json): unknown =>
      body?.items
        ? body.items.map((item: Json) => item.metadata.name).join()
        : `${body?.code} ${body?.reason} ${body?.message} ${body?.details ? JSON.stringify(body.details) : ""}`;
    // One step tells the answers to many questions.
    const tell = async (
      label: string,
      questions: Record<string, string>,
    ): Promise<void> => {
      const told: Record<string, unknown> = {};
      for (const [question, path] of Object.entries(questions)) {
        const { body } = await call("", "GET", path, { silent: true });
        told[question] = short(body);
      }
      await call(label, "GET", "/version", { keep: () => told });
    };
    const asks = (
      path: string,
      parameter: string,
      texts: readonly string[],
    ): Record<string, string> =>
      Object.fromEntries(
        texts.map((text) => [
          text,
          `${path}?${parameter}=${encodeURIComponent(text)}`,
        ]),
      );
    await tell("label selectors", asks(all, "labelSelector", labelSelectors));
    await tell("long label selectors", asks(all, "labelSelector", long));
    await tell("field selectors", asks(all, "fieldSelector", fieldSelectors));
    await tell(
      "field selectors of all namespaces",
      asks(
        "/api/v1/configmaps",
        "labelSelector=a&fieldSelector",
        fieldSelectors,
      ),
    );
    await tell("both", {
      "label and field": `${all}?labelSelector=a&fieldSelector=metadata.name%3Dab`,
      "label and field, none": `${all}?labelSelector=x&fieldSelector=metadata.name%3Dab`,
      "both bad": `${all}?labelSelector=!!&fieldSelector=!!`,
      twice: `${all}?labelSelector=x&labelSelector=a`,
      "with plus signs": `${all}?labelSelector=a+in+(b,c)`,
      "not encoded": `${all}?labelSelector=a=b`,
      "other case of the name": `${all}?LabelSelector=x`,
    });

    for (const group of groups) {
      const list = await call("", "GET", group ? `/apis/${group}` : "/api", {
        silent: true,
      });
      const version = group
        ? (list.body?.preferredVersion?.version as string)
        : "v1";
      if (!version) continue;
      const path = group ? `/apis/${group}/${version}` : "/api/v1";
      const { body } = await call("", "GET", path, { silent: true });
      for (const { name, namespaced, verbs } of body.resources as Json[]) {
        if (!verbs.includes("list") || !verbs.includes("watch")) continue;
        const known: string[] = [];
        let refusal = "";
        for (const field of fields) {
          const url = `${path}/${namespaced ? `namespaces/${namespace}/` : ""}${name}?fieldSelector=${field}%3Dnone`;
          const answer = await call("", "GET", url, { silent: true });
          if (answer.status === 200) known.push(field);
          else if (field === "status.replicas")
            refusal = short(answer.body) as string;
        }
        await call(`fields of ${name}.${group}`, "GET", "/version", {
          keep: () => ({ known, refusal }),
        });
      }
    }
  },
};

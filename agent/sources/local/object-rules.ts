// What is wrong with an object of the manifests directory of a node without an API server, and its defaults. The schema
// (unknown fields, types) was checked when it was read; here are the rules that a pod would otherwise meet later, and the
// refusal of what needs a controller. The full rules are the API server's, which is not loaded here.
import { applyDefaults } from "../../../api/defaults.ts";
import {
  dataKeyProblems,
  dns1035Problems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../api/names.ts";
import type { AnyObject } from "../../../api/object.ts";
import type {
  ConfigMap,
  PersistentVolumeClaim,
  Secret,
  Service,
} from "../../../api/types/core-v1.ts";
import { FieldProblems } from "../manifest-reader.ts";
import { claimProblems } from "./claim-rules.ts";
import { invalid, type FieldProblem } from "./field-problem.ts";
import { serviceProblems } from "./service-rules.ts";

/** The reference's limit of a ConfigMap or Secret. */
const maxDataBytes = 1024 * 1024;

/** Kinds of use without an API server, beside Pod, and what is wrong with one of them. */
const rules: Readonly<Record<string, (object: never) => FieldProblem[]>> = {
  ConfigMap: ({ data = {}, binaryData = {} }: ConfigMap) =>
    dataProblems({ data, binaryData }, "data"),
  Secret: ({ data = {}, stringData = {} }: Secret) =>
    dataProblems({ stringData, data }, "stringData"),
  PersistentVolumeClaim: (claim: PersistentVolumeClaim) => claimProblems(claim),
  Service: (service: Service) => serviceProblems(service),
};

/** The object with its defaults, in a namespace. @throws FieldProblems with all that is wrong */
export function checkedLocalObject(read: AnyObject): AnyObject {
  const kind = read.kind ?? "";
  const object = structuredClone(read);
  object.metadata = {
    ...object.metadata,
    namespace: object.metadata?.namespace || "default",
  };
  if (read.apiVersion !== "v1" || !Object.hasOwn(rules, kind))
    throw new FieldProblems([
      {
        field: "kind",
        detail: `Unsupported value: "${kind}": without an API server only Pods, ConfigMaps, Secrets, PersistentVolumeClaims and Services are of use`,
      },
    ]);
  applyDefaults(object, { group: "", version: "v1", kind });
  const problems = [
    ...metadataProblems(object),
    ...rules[kind]!(object as never),
  ];
  if (problems.length > 0) throw new FieldProblems(problems);
  return object;
}

function metadataProblems({ kind, metadata }: AnyObject): FieldProblem[] {
  const { name, namespace = "", labels = {} } = metadata;
  const nameProblems =
    kind === "Service" ? dns1035Problems : dnsSubdomainProblems;
  return [
    ...(name
      ? invalid("metadata.name", name, nameProblems(name))
      : [{ field: "metadata.name", detail: "Required value" }]),
    ...invalid("metadata.namespace", namespace, dnsLabelProblems(namespace)),
    ...Object.entries(labels).flatMap(([key, value]) => [
      ...invalid("metadata.labels", key, labelKeyProblems(key)),
      ...invalid("metadata.labels", value, labelValueProblems(value)),
    ]),
  ];
}

/** Keys that can be files, and the size; values are in no text. `plain`: which of the maps is not base64. */
function dataProblems(
  maps: Readonly<Record<string, Readonly<Record<string, string>>>>,
  plain: string,
): FieldProblem[] {
  let bytes = 0;
  const problems = Object.entries(maps).flatMap(([field, map]) =>
    Object.entries(map).flatMap(([key, value]) => {
      bytes +=
        field === plain
          ? Buffer.byteLength(value)
          : Math.floor((value.length * 3) / 4);
      return invalid(`${field}[${key}]`, key, dataKeyProblems(key));
    }),
  );
  return bytes > maxDataBytes
    ? [
        ...problems,
        {
          field: "data",
          detail: `Too long: may not be more than ${maxDataBytes} bytes`,
        },
      ]
    : problems;
}

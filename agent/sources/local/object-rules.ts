// An object of the manifests directory of a node without an API server as it is used: with its defaults and in a namespace.
// The schema (unknown fields, types) was checked when it was read; here it meets the API server's rules and the refusals of
// what needs a controller.
import { applyDefaults } from "../../../api/defaults.ts";
import type { AnyObject } from "../../../api/object.ts";
import { encodeStringData } from "../../../api/objects/string-data.ts";
import type {
  PersistentVolumeClaim,
  Secret,
  Service,
} from "../../../api/types/core-v1.ts";
import type { FieldProblem, ObjectRules } from "../field-problem.ts";
import { FieldProblems } from "../manifest-reader.ts";
import { claimRefusals } from "./claim-rules.ts";

/** Kinds of use without an API server, beside Pod, and what of them needs a controller. */
const refusals: Readonly<Record<string, (object: never) => FieldProblem[]>> = {
  ConfigMap: () => [],
  Secret: () => [],
  PersistentVolumeClaim: (claim: PersistentVolumeClaim) => claimRefusals(claim),
  Service: (service: Service) => serviceRefusals(service),
};
const serviceTypes = ["ClusterIP", "NodePort", "ExternalName"];

/** @throws FieldProblems with all that is wrong */
export function checkedLocalObject(
  read: AnyObject,
  rules: ObjectRules,
): AnyObject {
  const kind = read.kind ?? "";
  const object = structuredClone(read);
  object.metadata = {
    ...object.metadata,
    namespace: object.metadata?.namespace || "default",
  };
  if (read.apiVersion !== "v1" || !Object.hasOwn(refusals, kind))
    throw new FieldProblems([
      {
        field: "kind",
        detail: `Unsupported value: "${kind}": without an API server only Pods, ConfigMaps, Secrets, PersistentVolumeClaims and Services are of use`,
      },
    ]);
  applyDefaults(object, { group: "", version: "v1", kind });
  if (kind === "Secret") encodeStringData(object as unknown as Secret);
  const refused = refusals[kind]!(object as never);
  const problems = [
    ...refused,
    ...rules(object).filter(
      ({ field }) => !refused.some((each) => each.field === field),
    ),
  ];
  if (problems.length > 0) throw new FieldProblems(problems);
  return object;
}

function serviceRefusals({ spec }: Service): FieldProblem[] {
  const { type = "ClusterIP" } = spec ?? {};
  if (serviceTypes.includes(type)) return [];
  return [
    {
      field: "spec.type",
      detail: `Unsupported value: "${type}": without an API server the supported values are ${serviceTypes.map((each) => `"${each}"`).join(", ")}`,
    },
  ];
}

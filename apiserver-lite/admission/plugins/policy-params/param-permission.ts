// Who writes a policy with parameters must be allowed to read objects of their kind, and who binds it those that the
// binding names: a policy shows what its parameters say. In the reference a part of the validation of these objects; here
// a validating step, as the authorizer may have to wait.
import type { Authorizer, UserInfo } from "../../../../api/contracts.ts";
import { errors } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { parseApiVersion } from "../../../../api/object.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../../../api/types/admissionregistration-v1.ts";
import { SUPERUSER_GROUP } from "../../../authorization/union-authorizer.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { typed } from "../../../resources/typed.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import type { ResourcesOfKind } from "../owner-permission.ts";

const group = "admissionregistration.k8s.io";
const policies: ReadonlySet<string> = new Set([
  "mutatingadmissionpolicies",
  "validatingadmissionpolicies",
]);
const policiesOf: Readonly<Record<string, string>> = {
  mutatingadmissionpolicybindings: "mutatingadmissionpolicies",
  validatingadmissionpolicybindings: "validatingadmissionpolicies",
};

interface Asked {
  readonly verb: "get" | "list";
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export function createParamPermission(
  authorizer: Authorizer,
  resourcesOf: ResourcesOfKind,
): AdmissionPlugin {
  const mayRead = async (user: UserInfo, asked: Asked): Promise<boolean> => {
    const { decision } = await authorizer.authorize({
      ...asked,
      ...{ user, path: "", resourceRequest: true, subresource: "" },
    });
    return decision === "allow";
  };
  const policyProblem = async (
    attributes: AdmissionAttributes,
  ): Promise<string | undefined> => {
    const kind = typed<ValidatingAdmissionPolicy>(attributes.object)?.spec
      ?.paramKind;
    const before = typed<ValidatingAdmissionPolicy>(attributes.oldObject);
    if (!kind || sameValue(kind, before?.spec?.paramKind)) return undefined;
    const { user } = attributes;
    const asked = { ...readOf(kind, resourcesOf), namespace: "*", name: "*" };
    return (await mayRead(user, { verb: "get", ...asked }))
      ? undefined
      : `user ${shownUser(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind.kind}, apiVersion=${kind.apiVersion})`;
  };
  const bindingProblem = async (
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<string | undefined> => {
    const { spec = {} } = typed<ValidatingAdmissionPolicyBinding>(
      attributes.object!,
    );
    const before = typed<ValidatingAdmissionPolicyBinding>(
      attributes.oldObject,
    );
    const { paramRef, policyName = "" } = spec;
    if (
      !paramRef ||
      (sameValue(paramRef, before?.spec?.paramRef) &&
        policyName === before?.spec?.policyName)
    )
      return undefined;
    const { user, resource } = attributes;
    const policy = typed<ValidatingAdmissionPolicy>(
      context.read(group, policiesOf[resource.resource]!, "", policyName),
    );
    const read = readOf(policy?.spec?.paramKind, resourcesOf);
    const verb = paramRef.name ? "get" : "list";
    const { name = "", namespace = "" } = paramRef;
    if (await mayRead(user, { verb, ...read, namespace, name }))
      return undefined;
    const all = `to determine minimum required permissions and user ${shownUser(user)} does not have "${verb}" permission for all groups, versions and resources`;
    if (!policy) return `unable to get policy ${policyName} ${all}`;
    if (policy.spec?.paramKind && read.resource === "*")
      return `unable to resolve paramKind ${shownKind(policy.spec.paramKind)} ${all}`;
    return `user ${shownUser(user)} does not have "${verb}" permission on the object referenced by paramRef`;
  };
  return {
    name: "PolicyParamPermission",
    async validate(attributes, context) {
      const { operation, resource, subresource, kind, user, name } = attributes;
      if (
        resource.group !== group ||
        subresource !== "" ||
        (operation !== "CREATE" && operation !== "UPDATE") ||
        user.groups.includes(SUPERUSER_GROUP)
      )
        return;
      const isPolicy = policies.has(resource.resource);
      if (!isPolicy && !(resource.resource in policiesOf)) return;
      const problem = isPolicy
        ? await policyProblem(attributes)
        : await bindingProblem(attributes, context);
      if (problem === undefined) return;
      const field = isPolicy ? "spec.paramKind" : "spec.paramRef";
      throw errors.invalid(
        kind,
        name || (attributes.object?.metadata.name ?? ""),
        [fieldErrors.forbidden(field, problem)],
      );
    },
  };
}

/** All resources where it is not known which one is meant. */
function readOf(
  kind: ParamKind | undefined,
  resourcesOf: ResourcesOfKind,
): Pick<Asked, "group" | "version" | "resource"> {
  if (!kind?.apiVersion) return { group: "*", version: "*", resource: "*" };
  const { group: apiGroup, version } = parseApiVersion(kind.apiVersion);
  const [found] = resourcesOf(kind.apiVersion, kind.kind ?? "");
  return { group: apiGroup, version, resource: found?.resource ?? "*" };
}

/** As the reference prints its structs. */
const shownUser = ({ name, uid = "", groups, extra }: UserInfo): string => {
  const extras = Object.entries(extra)
    .sort()
    .map(([key, values]) => `${key}:[${values.join(" ")}]`);
  return `&{${name} ${uid} [${groups.join(" ")}] map[${extras.join(" ")}]}`;
};
const shownKind = ({ apiVersion = "", kind = "" }: ParamKind): string =>
  `&{${apiVersion} ${kind}}`;

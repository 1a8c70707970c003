// Access checks: `authorizer.group('').resource('pods').namespace('x').check('create').allowed()`. The program hands
// over who decides; a decision that takes time suspends the evaluation, which starts over when it is there.
import type { Library } from "../checking/declarations.ts";
import { method } from "./opaque.ts";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
  UserInfo,
} from "../../contracts.ts";
import type { Activation } from "../evaluation/activation.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../names.ts";
import { objectType } from "../checking/types.ts";
import { valueDeclared, type DeclaredType } from "../schemas/declared-type.ts";
import {
  Failure,
  OpaqueValue,
  type Result,
  type Value,
} from "../values/value.ts";

const prefix = "kubernetes.authorization.";
const names = {
  authorizer: `${prefix}Authorizer`,
  path: `${prefix}PathCheck`,
  group: `${prefix}GroupCheck`,
  resource: `${prefix}ResourceCheck`,
  decision: `${prefix}Decision`,
};

export const authorizerTypes = Object.values(names).map(objectType);
const authorizerType = objectType(names.authorizer);
const resourceCheckType = objectType(names.resource);

/** The variables of expressions that may ask; `authorizer.requestResource` is about the request's own resource. */
export const authorizerVariables: Readonly<Record<string, DeclaredType>> = {
  authorizer: valueDeclared(objectType(names.authorizer)),
  "authorizer.requestResource": valueDeclared(objectType(names.resource)),
};

/** Values of this library are equal only to themselves. */
abstract class AccessValue extends OpaqueValue {
  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

export class AuthorizerValue extends AccessValue {
  readonly type = authorizerType;
  constructor(
    readonly user: UserInfo,
    readonly authorizer: Authorizer,
  ) {
    super();
  }
}

class PathCheck extends AccessValue {
  readonly type = objectType(names.path);
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }
}

class GroupCheck extends AccessValue {
  readonly type = objectType(names.group);
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

type ResourceFields = Pick<
  AccessAttributes,
  | "group"
  | "resource"
  | "subresource"
  | "namespace"
  | "name"
  | "fieldSelector"
  | "labelSelector"
>;

/** A check of a resource; also the variable `authorizer.requestResource`. */
export class ResourceCheck extends AccessValue {
  readonly type = resourceCheckType;
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly fields: ResourceFields,
  ) {
    super();
  }
  with(fields: Partial<ResourceFields>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.fields, ...fields });
  }
}

class DecisionValue extends AccessValue {
  readonly type = objectType(names.decision);
  constructor(
    readonly decision: AccessDecision,
    readonly error: string | undefined,
  ) {
    super();
  }
}

function decide(
  authorizer: AuthorizerValue,
  attributes: AccessAttributes,
  activation: Activation,
): Result {
  const key = JSON.stringify(attributes);
  const settled = activation.settle(key, () =>
    authorizer.authorizer.authorize(attributes),
  );
  return settled.ok
    ? new DecisionValue(settled.value as AccessDecision, undefined)
    : new DecisionValue(
        { decision: "no-opinion", reason: "" },
        (settled.error as Error).message,
      );
}

const noResource = {
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
};

function checkPath(
  check: PathCheck,
  verb: string,
  activation: Activation,
): Result {
  const { authorizer, path } = check;
  const { user } = authorizer;
  const attributes = {
    ...noResource,
    user,
    verb,
    path,
    resourceRequest: false,
  };
  return decide(authorizer, attributes, activation);
}

function checkResource(
  { authorizer, fields }: ResourceCheck,
  verb: string,
  activation: Activation,
): Result {
  const { fieldSelector, labelSelector, ...rest } = fields;
  return decide(
    authorizer,
    {
      ...rest,
      ...(fieldSelector ? { fieldSelector } : {}),
      ...(labelSelector ? { labelSelector } : {}),
      user: authorizer.user,
      verb,
      path: "",
      resourceRequest: true,
      version: "*",
    },
    activation,
  );
}

/** The service account takes the place of the user. */
function serviceAccount(
  { authorizer }: AuthorizerValue,
  namespace: string,
  name: string,
): Result {
  if (dnsSubdomainProblems(name).length > 0)
    return new Failure("Invalid service account name");
  if (dnsLabelProblems(namespace).length > 0)
    return new Failure("Invalid service account namespace");
  const user: UserInfo = {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
    extra: {},
  };
  return new AuthorizerValue(user, authorizer);
}

const narrow = (field: keyof ResourceFields, id = `resourcecheck_${field}`) =>
  method<ResourceCheck>(
    id,
    `${names.resource}, string`,
    names.resource,
    (check, value: string) => check.with({ [field]: value }),
  );

const verdict = (
  id: string,
  result: string,
  read: (decision: DecisionValue) => Result,
) => [method<DecisionValue>(id, names.decision, result, read)];

const checkOf = (
  id: string,
  type: string,
  check: (subject: never, verb: string, activation: Activation) => Result,
) => ({
  id,
  member: true as const,
  args: `${type}, string`,
  result: names.decision,
  call: ([subject, verb]: readonly Value[], activation: Activation): Result =>
    check(subject as never, verb as string, activation),
});

const isBlank = (text: string): boolean => text.trim() === "";

export const authorizerLibrary: Library = {
  path: [
    method<AuthorizerValue>(
      "authorizer_path",
      `${names.authorizer}, string`,
      names.path,
      (authorizer, path: string) =>
        isBlank(path)
          ? new Failure("path must not be empty")
          : new PathCheck(authorizer, path),
    ),
  ],
  group: [
    method<AuthorizerValue>(
      "authorizer_group",
      `${names.authorizer}, string`,
      names.group,
      (authorizer, group: string) => new GroupCheck(authorizer, group),
    ),
  ],
  serviceAccount: [
    method<AuthorizerValue>(
      "authorizer_serviceaccount",
      `${names.authorizer}, string, string`,
      names.authorizer,
      serviceAccount,
    ),
  ],
  resource: [
    method<GroupCheck>(
      "groupcheck_resource",
      `${names.group}, string`,
      names.resource,
      ({ authorizer, group }, resource: string) =>
        isBlank(resource)
          ? new Failure("resource must not be empty")
          : new ResourceCheck(authorizer, {
              group,
              resource,
              subresource: "",
              namespace: "",
              name: "",
            }),
    ),
  ],
  subresource: [narrow("subresource")],
  namespace: [narrow("namespace")],
  name: [narrow("name")],
  fieldSelector: [narrow("fieldSelector", "authorizer_fieldselector")],
  labelSelector: [narrow("labelSelector", "authorizer_labelselector")],
  check: [
    checkOf("pathcheck_check", names.path, checkPath),
    checkOf("resourcecheck_check", names.resource, checkResource),
  ],
  errored: verdict(
    "decision_errored",
    "bool",
    (decision) => decision.error !== undefined,
  ),
  error: verdict(
    "decision_error",
    "string",
    (decision) => decision.error ?? "",
  ),
  allowed: verdict(
    "decision_allowed",
    "bool",
    ({ decision }) => decision.decision === "allow",
  ),
  reason: verdict(
    "decision_reason",
    "string",
    ({ decision }) => decision.reason,
  ),
};

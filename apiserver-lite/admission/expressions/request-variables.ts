// What expressions see of a request: the reference's variables, each made when an expression first uses it. One object a
// request, matched kind and parameter; its getters are the names of the variables.
import type { AnyObject } from "../../../api/object.ts";
import {
  AuthorizerValue,
  ResourceCheck,
} from "../../../api/cel/functions/authorizer.ts";
import { dynReader } from "../../../api/cel/values/json.ts";
import type { ServedResource, AdmissionAttributes } from "../plugin.ts";
import type { RequestAuthorizer } from "./request-authorizer.ts";
import { namespaceOf } from "../matching/request-matcher.ts";

interface VariableSource {
  readonly attributes: AdmissionAttributes;
  /** The resource and kind the policy's rules matched. */
  readonly matched: ServedResource;
  /** In the version of the matched kind. */
  readonly object: Readonly<AnyObject> | undefined;
  readonly oldObject: Readonly<AnyObject> | undefined;
  readonly params: Readonly<AnyObject> | undefined;
  /** Of the request; undefined for what is in none. */
  readonly namespaceObject: Readonly<AnyObject> | undefined;
  readonly authorizer: RequestAuthorizer;
}

export class RequestVariables {
  readonly #source: VariableSource;
  #object: unknown;
  #oldObject: unknown;
  #params: unknown;
  #request: object | undefined;
  #authorizer: AuthorizerValue | undefined;
  /** Set while the expressions of one place are evaluated. */
  variables: unknown = null;

  constructor(source: VariableSource) {
    this.#source = source;
  }

  /** Match conditions see no namespace, and the resource as it was asked for. */
  forConditions(): RequestVariables {
    const { attributes, matched } = this.#source;
    return new RequestVariables({
      ...this.#source,
      matched: { kind: matched.kind, resource: attributes.resource },
      namespaceObject: undefined,
    });
  }

  get object(): unknown {
    return (this.#object ??= dynReader.read(this.#source.object ?? null));
  }

  get oldObject(): unknown {
    return (this.#oldObject ??= dynReader.read(this.#source.oldObject ?? null));
  }

  get params(): unknown {
    return (this.#params ??= dynReader.read(this.#source.params ?? null));
  }

  get namespaceObject(): unknown {
    return this.#source.namespaceObject ?? null;
  }

  get authorizer(): AuthorizerValue {
    const { authorizer, attributes } = this.#source;
    return (this.#authorizer ??= new AuthorizerValue(
      attributes.user,
      authorizer,
    ));
  }

  /** A check of the request's own resource. */
  get "authorizer.requestResource"(): ResourceCheck {
    const { resource, subresource, namespace, name } = this.#source.attributes;
    return new ResourceCheck(this.authorizer, {
      ...{ group: resource.group, resource: resource.resource },
      ...{ subresource, namespace, name },
    });
  }

  get request(): unknown {
    return (this.#request ??= requestOf(this.#source));
  }
}

/** As the reference's AdmissionRequest is written: what is empty is absent. */
function requestOf({ attributes, matched }: VariableSource): object {
  const { subresource, name, user, operation, dryRun, options } = attributes;
  const namespace = namespaceOf(attributes);
  const optional = (field: string, value: string): object =>
    value === "" ? {} : { [field]: value };
  return {
    uid: "",
    kind: matched.kind,
    resource: matched.resource,
    ...optional("subResource", subresource),
    requestKind: attributes.kind,
    requestResource: attributes.resource,
    ...optional("requestSubResource", subresource),
    ...optional("name", name),
    ...optional("namespace", namespace),
    operation,
    userInfo: {
      ...optional("username", user.name),
      ...optional("uid", user.uid ?? ""),
      ...(user.groups.length > 0 ? { groups: user.groups } : {}),
      ...(Object.keys(user.extra).length > 0 ? { extra: user.extra } : {}),
    },
    object: null,
    oldObject: null,
    dryRun,
    options: options ?? null,
  };
}

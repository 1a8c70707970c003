// serviceaccounts/token: makes tokens for an account, for chosen audiences, bound to a pod, secret or node.
import { randomUUID } from "node:crypto";
import { formatTime } from "../../../api/clock.ts";
import { ApiError, errors, type FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type {
  StrategyContext,
  SubresourceHandler,
} from "../../resources/strategy.ts";
import {
  serviceAccountUserName,
  type ObjectReference,
  type ServiceAccountClaims,
} from "./claims.ts";
import type { TokenSigner } from "../../../api/pki/jwt.ts";
import { untyped } from "../../resources/typed.ts";

interface TokenRequestOptions {
  readonly issuer: string;
  readonly signer: TokenSigner;
  /** Tokens that are extended live no longer than `maxExpirationSeconds` either. Default false. */
  readonly extendsToMaximum?: boolean;
  /** What tokens are for when the request names no audience. */
  readonly audiences: readonly string[];
  /** Longer wishes are cut to this. Undefined: up to 2^32 s. */
  readonly maxExpirationSeconds?: number;
  /** Pods' own tokens (asked for 3607 s) live a year, for clients that do not read them again. Default true. */
  readonly extendExpiration?: boolean;
  /** May tokens be bound to nodes? Default true. */
  readonly bindsToNodes?: boolean;
}

const DEFAULT_EXPIRATION_SECONDS = 3600;
const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;
/** What the ServiceAccount admission plugin puts into pods: marks tokens that are extended. */
const POD_TOKEN_SECONDS = 3607;
const EXTENDED_SECONDS = 365 * 24 * 3600;

interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
  boundObjectRef?: {
    kind?: string;
    apiVersion?: string;
    name?: string;
    uid?: string;
  };
}

export function createTokenSubresource(
  options: TokenRequestOptions,
): SubresourceHandler {
  return {
    prepareCreated(body, { namespace, name }) {
      checkNames(body, namespace, name);
      body.metadata = { ...body.metadata, name, namespace };
      const spec = body["spec"] as TokenRequestSpec | undefined;
      if (!spec?.audiences?.length)
        body["spec"] = { ...spec, audiences: [...options.audiences] };
    },
    async handle(request, context) {
      if (!request.body) throw errors.badRequest("a TokenRequest is required");
      const account = await context.parent();
      const body = request.body;
      const spec = {
        ...((body["spec"] as TokenRequestSpec | undefined) ?? {}),
      };
      let seconds = spec.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS;
      refuseBadSpec(seconds);
      const maximum = options.maxExpirationSeconds ?? MAX_EXPIRATION_SECONDS;
      if (seconds > maximum) {
        context.warn(
          `requested expiration of ${seconds} seconds shortened to ${maximum} seconds`,
        );
        seconds = maximum;
      }
      const audiences =
        spec.audiences && spec.audiences.length > 0
          ? spec.audiences
          : [...options.audiences];

      const bound = boundObjects(spec, account, context, options);
      const nowSeconds = Math.floor(context.clock.now() / 1000);
      const extended =
        (options.extendExpiration ?? true) &&
        bound.pod !== undefined &&
        seconds === POD_TOKEN_SECONDS &&
        audiences.every((audience) => options.audiences.includes(audience));
      const extendedSeconds = options.extendsToMaximum
        ? Math.min(maximum, EXTENDED_SECONDS)
        : EXTENDED_SECONDS;
      const claims: ServiceAccountClaims = {
        aud: audiences,
        exp: nowSeconds + (extended ? extendedSeconds : seconds),
        iat: nowSeconds,
        iss: options.issuer,
        jti: randomUUID(),
        "kubernetes.io": {
          namespace: request.namespace,
          ...bound,
          serviceaccount: {
            name: account.metadata.name,
            uid: account.metadata.uid ?? "",
          },
          ...(extended ? { warnafter: nowSeconds + seconds } : {}),
        },
        nbf: nowSeconds,
        sub: serviceAccountUserName(request.namespace, account.metadata.name),
      };
      context.annotate(
        "authentication.kubernetes.io/issued-credential-id",
        `JTI=${claims.jti}`,
      );
      return untyped({
        kind: "TokenRequest",
        apiVersion: "authentication.k8s.io/v1",
        metadata: {
          name: account.metadata.name,
          namespace: request.namespace,
          creationTimestamp: formatTime(context.clock.now()),
        },
        spec: {
          audiences,
          expirationSeconds: seconds,
          boundObjectRef: spec.boundObjectRef ?? null,
        },
        status: {
          token: context.dryRun ? "" : await signed(options.signer, claims),
          expirationTimestamp: formatTime((nowSeconds + seconds) * 1000),
        },
      });
    },
  };
}

async function signed(signer: TokenSigner, claims: object): Promise<string> {
  try {
    return await signer.sign(claims);
  } catch (error) {
    throw errors.internal(
      `failed to generate token: ${(error as Error).message}`,
    );
  }
}

function checkNames(body: AnyObject, namespace: string, name: string): void {
  // Nothing is required of the body's metadata: clients leave it out.
  const given =
    (body.metadata as Partial<AnyObject["metadata"]> | undefined) ?? {};
  if (given.name && given.name !== name) {
    throw errors.badRequest(
      `the name of the object (${given.name}) does not match the name on the URL (${name})`,
    );
  }
  if (given.namespace && given.namespace !== namespace) {
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  }
}

function refuseBadSpec(seconds: number): void {
  const problems: FieldError[] = [];
  const problem = (text: string): void => {
    problems.push({
      type: "FieldValueInvalid",
      field: "spec.expirationSeconds",
      detail: `Invalid value: ${seconds}: ${text}`,
    });
  };
  if (!(seconds >= MIN_EXPIRATION_SECONDS))
    problem("may not specify a duration less than 10 minutes");
  if (seconds > MAX_EXPIRATION_SECONDS)
    problem("may not specify a duration larger than 2^32 seconds");
  if (problems.length > 0) {
    throw errors.invalid(
      { group: "authentication.k8s.io", kind: "TokenRequest" },
      "",
      problems,
    );
  }
}

type Bound = Partial<Record<"pod" | "secret" | "node", ObjectReference>>;

function boundObjects(
  spec: TokenRequestSpec,
  account: Readonly<AnyObject>,
  context: StrategyContext,
  { bindsToNodes = true }: TokenRequestOptions,
): Bound {
  const reference = spec.boundObjectRef;
  if (!reference) return {};
  const { kind = "", apiVersion = "v1", name = "" } = reference;
  const namespace = account.metadata.namespace ?? "";
  const found = (
    resource: string,
    inNamespace: string,
  ): Readonly<AnyObject> => {
    const object = context.read("", resource, inNamespace, name);
    if (!object) throw errors.notFound({ group: "", resource }, name);
    if (reference.uid && reference.uid !== object.metadata.uid) {
      throw errors.conflict(
        { group: "", resource },
        name,
        `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    return object;
  };
  const identity = (object: Readonly<AnyObject>): ObjectReference => ({
    name: object.metadata.name,
    uid: object.metadata.uid ?? "",
  });
  switch (apiVersion === "v1" ? kind : "") {
    case "Pod":
      return boundPod(found("pods", namespace), account, context, identity);
    case "Secret":
      return { secret: identity(found("secrets", namespace)) };
    case "Node":
      if (!bindsToNodes)
        throw errors.badRequest(
          'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
        );
      return { node: identity(found("nodes", "")) };
    default:
      throw errors.badRequest(
        `cannot bind token to object of type ${apiVersion?.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`,
      );
  }
}

function boundPod(
  pod: Readonly<AnyObject>,
  account: Readonly<AnyObject>,
  context: StrategyContext,
  identity: (object: Readonly<AnyObject>) => ObjectReference,
): Bound {
  const { serviceAccountName, nodeName } = pod["spec"] as {
    serviceAccountName?: string;
    nodeName?: string;
  };
  if (serviceAccountName !== account.metadata.name) {
    throw new ApiError({
      code: 400,
      reason: "BadRequest",
      message: `cannot bind token for serviceaccount "${account.metadata.name}" to pod running with different serviceaccount name.`,
    });
  }
  const node = nodeName ? context.read("", "nodes", "", nodeName) : undefined;
  const bound: Bound = { pod: identity(pod) };
  if (node) bound.node = identity(node);
  else if (nodeName) bound.node = { name: nodeName, uid: "" };
  return bound;
}

// What a transport hands to the dispatch and gets back. A transport turns its own form (HTTP bytes, objects of this
// process) into a RequestContext, and an Outcome into its own form; every rule between the two is the dispatch's.
import type { FieldValidation, Decoded } from "../../api/codec/json.ts";
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import type { ObjectSchema } from "../../api/schema.ts";
import type { AuditTrail } from "../audit/auditor.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import { Call, type CallOptions } from "../registry/call.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/verbs/list.ts";
import type { MaybePromise } from "../registry/kinds/when-ready.ts";
import type { PatchType, ReadPatch } from "../registry/verbs/patch-text.ts";
import type { Registry } from "../registry/registry.ts";
import type { RequestInfo } from "../request/request-info.ts";

export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection";

/**
 * One request, from its transport's first look at it to its answer: the one object that filters, dispatch and answers
 * pass on. Fields are set as they are found out, in the order of this list.
 */
export class RequestContext {
  info!: RequestInfo;
  query!: URLSearchParams;
  user!: UserInfo;
  /** Undefined when the request is not audited. */
  trail: AuditTrail | undefined;
  /** Filled with the texts of the answer's warnings, also of a refusal's. */
  readonly warnings: string[] = [];
  /** For what needs a permission beside the verb's own. Undefined: the caller is past authorization. */
  authorizer: Authorizer | undefined;
  /** This and what follows: for requests for resources, once their place was found. */
  registry!: Registry;
  endpoint!: Endpoint;
  verb!: Verb;
  /** "" for cluster-scoped resources and across namespaces. */
  namespace!: string;
  body!: RequestBody;

  constructor(readonly userAgent: string) {}

  get name(): string {
    return this.info.name;
  }

  get subresource(): string {
    return this.info.subresource;
  }

  /** The request is one for this endpoint. */
  placeAt(registry: Registry, endpoint: Endpoint): void {
    this.registry = registry;
    this.endpoint = endpoint;
    this.namespace = endpoint.info.namespaced ? this.info.namespace : "";
    this.warnings.push(...endpoint.warnings);
  }
}

/** The kind of object a body is decoded as. */
export interface WantedBody {
  /** Undefined: any object. */
  readonly schema: ObjectSchema | undefined;
  /** Of a document that does not say; "" when any will do. */
  readonly apiVersion: string;
  readonly kind: string;
  /** It may come in protobuf. */
  readonly protobuf: boolean;
  readonly fieldValidation: FieldValidation;
  /** Decoding an empty body gives undefined instead of an error. */
  readonly optional?: boolean;
}

export interface RequestBody {
  /** Of what was received, once it was; unset where nothing was parsed. */
  readonly bytes?: number;
  /** Unset unless the request is a patch. */
  readonly patchType?: PatchType | undefined;
  /**
   * A private object in the schema's shape and canonical names; what strict decoding has against it is returned beside
   * it. Throws ApiError 400, 413, 415.
   */
  decode(
    wanted: WantedBody,
  ): Decoded | undefined | Promise<Decoded | undefined>;
  /** Receives the patch; it is parsed when the result is called. Throws ApiError 400, 413. */
  patch(fieldValidation: FieldValidation): MaybePromise<ReadPatch>;
}

export type Outcome =
  /** An object, stored or as a dry run would store it. */
  | { readonly status: number; readonly entry: CacheEntry }
  /** An object that is not a stored one: a Status, a review, a subresource's own kind. */
  | { readonly status: number; readonly value: object }
  | { readonly status: number; readonly listed: Listed };

/** What the registry's call needs of a verb's options. */
type VerbOptions = Pick<
  CallOptions,
  "dryRun" | "fieldManager" | "fieldValidation" | "force"
>;

const noOptions: VerbOptions = {};

/** The registry's call for a request; `options` are those of the verb. */
export function callOf(
  request: RequestContext,
  options: VerbOptions = noOptions,
): Call {
  // One literal, so that all calls have one shape: spreading two objects costs more than the rest of a call's making.
  return new Call(request.registry, {
    user: request.user,
    endpoint: request.endpoint,
    namespace: request.namespace,
    name: request.name,
    subresource: request.subresource,
    query: request.query,
    userAgent: request.userAgent,
    authorizer: request.authorizer,
    trail: request.trail,
    warnings: request.warnings,
    dryRun: options.dryRun ?? false,
    fieldManager: options.fieldManager ?? "",
    force: options.force ?? false,
    fieldValidation: options.fieldValidation ?? "Warn",
  });
}

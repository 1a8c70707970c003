// Admission: named plugins that see every write after authorization. Mutating ones run first, in order, then validating.
import type { UserInfo } from "../../api/contracts.ts";
import type {
  AnyObject,
  GroupVersionKind,
  GroupVersionResource,
} from "../../api/object.ts";
import type { PatchSchema } from "../../api/patch/patch-schema.ts";
import type { StrategyContext } from "../resources/strategy.ts";

/** A place where objects are served, and the kind that is sent there. */
export interface ServedResource {
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
}

/** The versions of the request's objects. Admission has them in the stored version. */
export interface ObjectVersions {
  /** All places of the same objects with the request's subresource, its own first. */
  readonly equivalents: readonly ServedResource[];
  /** The object in the version of `kind`; never changes its argument, may return it. Rejects with ApiError 500. */
  to(
    object: Readonly<AnyObject>,
    kind: GroupVersionKind,
  ): Readonly<AnyObject> | Promise<Readonly<AnyObject>>;
  /**
   * What a plug-in made of an object that `to` returned, as admission has it: read by the schema, with defaults. The
   * argument is used up. `strict` refuses fields that a built-in kind does not have. Throws and rejects with ApiError 500.
   */
  from(
    object: AnyObject,
    kind: GroupVersionKind,
    strict?: boolean,
  ): Promise<AnyObject>;
  /** How parts of objects of that kind are merged; undefined where the kind's schema is not known. */
  schemaOf(kind: GroupVersionKind): PatchSchema | undefined;
}

export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: GroupVersionResource;
  readonly kind: GroupVersionKind;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options object of the request (CreateOptions, DeleteOptions …); a CONNECT has none. */
  readonly options: object | undefined;
  /** May be changed, or set, by `admit`; undefined for DELETE. */
  object: AnyObject | undefined;
  readonly oldObject: Readonly<AnyObject> | undefined;
  readonly versions: ObjectVersions;
  /** 1 when the mutating plug-ins run once more. */
  round: 0 | 1;
  /** Set by a plug-in whose change those before it have to see: all mutating ones run once more, at most once. */
  reinvoke: boolean;
}

export interface AdmissionPlugin {
  /** The reference's name: NamespaceLifecycle, ServiceAccount … */
  readonly name: string;
  /** `admit` writes complete values: the kind's defaults need not be set again. */
  readonly writesWhole?: boolean;
  /** Changes attributes.object, or rejects with an ApiError. */
  admit?(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void;
  /** Rejects with an ApiError. */
  validate?(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void;
  /** Of a CREATE, in the very turn in which the store takes the object: what changed while others were asked. Throws ApiError. */
  refuseCreation?(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): void;
}

// What a resource's own rules are: the generic registry does everything else. One strategy a resource, in
// apiserver-lite/resources/<group>/<kind>.ts; a resource without one gets the plain behaviour.
//
// Order of a create: decode → schema validation → defaults (facts, then `setDefaults`) → mutating admission → system
// fields → prepareForCreate → defaults again → validate → validating admission → store. Of an update: the same with the Update forms;
// an update that changes nothing keeps its resourceVersion. Objects given to the hooks are private copies that may be
// changed, unless marked Readonly; they are never kept.
import type { FieldError } from "../../api/errors.ts";
import type {
  AnyObject,
  GroupVersionResource,
  KubeObject,
} from "../../api/object.ts";
import type { UserInfo } from "../../api/contracts.ts";
import type { DeleteOptions } from "../../api/types/meta-v1.ts";
import type { Clock } from "../../api/clock.ts";
import type { Pause, Steps } from "../../api/queueing/steps.ts";
import type { RowPrinter } from "../printing/table.ts";
import type { StateReader } from "./state.ts";

/** Changes an object that was just read; its shape is that of years ago. */
/* eslint-disable-next-line @typescript-eslint/no-explicit-any -- no interface of that shape is left */
export type Upgrade = (object: any) => void;

/** What rules may need to know of the request and the state. */
export interface StrategyContext extends StateReader {
  readonly user: UserInfo;
  /** Of the request: one of those in which the resource is served. */
  readonly apiVersion: string;
  readonly dryRun: boolean;
  readonly clock: Clock;
  /** The pauses of a computation that may be long and begins now: none before it has held the loop for a slice. */
  pauses(): Pause;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Adds an annotation to the request's audit event, where that is recorded at this level (default Metadata) or above. */
  annotate(
    name: string,
    value: string | (() => string),
    level?: "Metadata" | "Request",
  ): void;
}

/**
 * @typeParam T the kind's interface: the schema has checked what the hooks get. Rules that are written for one become a
 * strategy of any object by `strategyOf` (typed.ts).
 */
export interface ResourceStrategy<
  T extends KubeObject = AnyObject,
> extends RowPrinter<T> {
  /** Defaults the facts' rules don't express. Also run on objects read from older stores. */
  setDefaults?(object: T): void;
  prepareForCreate?(object: T, context: StrategyContext): void | Promise<void>;
  prepareForUpdate?(
    object: T,
    old: Readonly<T>,
    context: StrategyContext,
  ): void | Promise<void>;
  /** No default depends on what preparation does: they need not be set again behind it. */
  readonly preparesWhole?: boolean;
  /** All problems at once. metadata is validated by the registry. */
  validate?(object: Readonly<T>, context: StrategyContext): FieldError[];
  /** Run in addition to `validate`, of new objects only. */
  validateCreate?(object: Readonly<T>, context: StrategyContext): FieldError[];
  /** Run in addition to `validate`: immutable fields, allowed transitions. */
  validateUpdate?(
    object: Readonly<T>,
    old: Readonly<T>,
    context: StrategyContext,
  ): FieldError[];
  /** Run behind the others where validation may be long: requests share the loop between its steps. */
  validateInSteps?(
    object: Readonly<T>,
    /** Undefined: the object is new. */
    old: Readonly<T> | undefined,
    context: StrategyContext,
  ): Steps<FieldError[]>;
  /** Run in the very turn in which the store takes a new object. Throws ApiError. */
  refuseCreation?(context: StrategyContext): void;
  /** Texts of Warning headers for an object that was accepted. */
  warnings?(
    object: Readonly<T>,
    old: Readonly<T> | undefined,
  ): Iterable<string>;
  /** The warning for a delete request that does not say what becomes of the object's dependents. */
  readonly orphanWarning?: string;
  /** Why an object may never be deleted, or undefined. */
  refuseDeletion?(object: Readonly<T>): string | undefined;
  /** How metadata.name is checked; the default is a DNS subdomain. Returns texts of problems. */
  validateName?(name: string, prefix: boolean): string[];
  /** Finalizers need no domain: custom resources, and kinds of which the reference checks metadata in general only. */
  readonly anyFinalizer?: true;
  /** Objects are removed some time after their last write (--event-ttl). */
  readonly expires?: true;
  /** Does anything beside metadata.finalizers keep a deleted object in the store? */
  isHeld?(object: Readonly<T>): boolean;
  /** Run on an object that a deletion marks and does not remove yet, after its metadata was set. */
  prepareForDeletion?(object: T): void;
  /** A deletion is answered with the last state of the object. Default: with a Status. */
  readonly returnsDeleted?: true;
  /**
   * Graceful deletion (pods): seconds to wait before removal, 0 for at once. Undefined: the resource has no grace.
   */
  graceSeconds?(
    object: Readonly<T>,
    options: DeleteOptions,
  ): number | undefined;
  /** After the object left the store (release of allocated addresses …). Not called in a dry run. */
  afterDelete?(
    object: Readonly<T>,
    context: StrategyContext,
  ): void | Promise<void>;
  /** After an update was stored (release of what only the old version had …). Not called in a dry run. */
  afterUpdate?(
    object: Readonly<T>,
    old: Readonly<T>,
    context: StrategyContext,
  ): void | Promise<void>;
  /** Called when a create or update did not happen after `prepareFor…` ran, to give back what that took. */
  rollback?(
    object: Readonly<T>,
    context: StrategyContext,
    /** The stored version an update was made for. */
    old?: Readonly<T>,
  ): void | Promise<void>;
  /**
   * Between versions whose shapes differ, by "from to" (apiVersions). Never change their argument; kind and apiVersion
   * are the registry's. Fields that a version can't express go into the reference's annotations.
   */
  readonly conversions?: Readonly<
    Record<string, (object: AnyObject) => AnyObject>
  >;
  /**
   * By apiVersion: changes of stored objects of a version that is no longer served and has another shape than today's,
   * before defaults are set. Defaults of that version which today's do not have are set here too.
   */
  readonly upgrades?: Readonly<Record<string, Upgrade>>;
  /** Beyond metadata.name and metadata.namespace; computed once at write. Missing values are "". */
  selectableFields?(object: Readonly<T>): Record<string, string>;
  /** The refusal of a selector with a field that the kind does not have. */
  refuseField?(field: string): string;
  /** Where a served version has other names for them: its names, and which of the stored kind's each means. */
  readonly fieldNames?: Readonly<Record<string, string>>;
  /** Finalizers added on create (namespaces' spec.finalizers are not these). */
  readonly defaultPropagation?: "Background" | "Foreground" | "Orphan";
  /** The policy that orphanDependents=false means. Default: Background. */
  readonly withoutOrphans?: "Background" | "Foreground";
  /** False: deletions leave finalizers alone, whatever the propagation policy. */
  readonly propagates?: false;
  readonly allowCreateOnUpdate?: boolean;
  /** May a PUT leave out resourceVersion? Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /** A write of the resource itself makes no manager own these paths. Default: status, where there is one. */
  readonly resetPaths?: readonly (readonly string[])[];
  /** Fields that only the main resource, and those that only /status may change. Default: status is reset. */
  readonly status?: PartStrategy<T>;
  /** Further subresources that are the object itself, of which they write a part (approval); read and patched as it is. */
  readonly parts?: Readonly<Record<string, PartStrategy<T>>>;
  /**
   * metadata.generation: 1 at first, one more when anything but metadata and status changes. "created": it stays 1;
   * "changed": there is none before the first change. Default: true.
   */
  readonly countsGeneration?: boolean | "created" | "changed";
  /** What of metadata makes a new generation too. */
  readonly countsMetadata?: "annotations" | "labels";
  /** A change of status by the resource itself makes a new generation too: kinds without /status have no other rules for it. */
  readonly countsStatus?: true;
  /** Named subresources with their own code, beyond status and scale: binding, eviction, token … */
  readonly subresources?: Readonly<Record<string, SubresourceHandler>>;
  /** Resources that are computed and never stored (SubjectAccessReview …). */
  readonly virtual?: VirtualResource;
  /** Where the object keeps the replicas that an applied Scale sets. Default: spec, replicas. */
  readonly replicasPath?: readonly string[];
  /** A create makes no object: it calls this subresource of the object whose name the body has. */
  readonly createsThrough?: {
    readonly resource: GroupVersionResource;
    readonly subresource: string;
  };
  /**
   * Objects that are made when they are read (componentstatuses, metrics); `name`: only this one is asked for.
   * `namespace` "": of all.
   */
  computed?(
    context: StrategyContext,
    name: string | undefined,
    namespace: string,
  ): Promise<AnyObject[]>;
}

/** A subresource's own rules for updates of the object. */
export interface PartStrategy<T extends KubeObject = AnyObject> {
  /** A write here makes no manager own these paths. Default: spec. */
  readonly resetPaths?: readonly (readonly string[])[];
  /** For "status" all but metadata and status is a copy of the old object's already. */
  prepareForUpdate?(
    object: T,
    old: Readonly<T>,
    context: StrategyContext,
  ): void | Promise<void>;
  validateUpdate?(
    object: Readonly<T>,
    old: Readonly<T>,
    context: StrategyContext,
  ): FieldError[];
  validateInSteps?(
    object: Readonly<T>,
    old: Readonly<T>,
    context: StrategyContext,
  ): Steps<FieldError[]>;
}

export interface SubresourceRequest {
  verb: "get" | "create" | "update" | "patch" | "delete";
  namespace: string;
  name: string;
  body: AnyObject | undefined;
  query: URLSearchParams;
}

/** What admission sees of an object that is updated through a subresource. */
export interface AdmittedView {
  show(object: Readonly<AnyObject>): AnyObject;
  /** Changes the object as mutating admission has changed what was shown. */
  take(object: AnyObject, shown: Readonly<AnyObject>): void;
}

/**
 * Writes through a subresource: `mutate` runs the registry's guarded update of the parent object with admission, but
 * without the strategy's prepareForUpdate and validateUpdate: the handler is the authority on what it changes. A PATCH
 * of the subresource is: handle "get", patch what it returned, handle "update" with the result as body.
 */
export interface SubresourceHandler {
  /** Set where admission of an update does not see the object itself. */
  readonly admitted?: AdmittedView;
  /** Checks and completes what is created, behind mutating admission and before validating. Throws ApiError. */
  prepareCreated?(
    body: AnyObject,
    place: Pick<SubresourceRequest, "namespace" | "name">,
  ): void;
  handle(
    request: SubresourceRequest,
    context: StrategyContext & {
      parent(): Promise<Readonly<AnyObject>>;
      mutate(change: (object: AnyObject) => void): Promise<AnyObject>;
      /** The same for the status of another object; `change` may throw, and runs again after a conflict. */
      mutateStatusOf(
        resource: GroupVersionResource,
        namespace: string,
        name: string,
        change: (object: AnyObject) => void,
      ): Promise<void>;
      remove(options: DeleteOptions): Promise<AnyObject>;
    },
  ): Promise<AnyObject>;
}

export interface VirtualResource {
  create(object: AnyObject, context: StrategyContext): Promise<AnyObject>;
}

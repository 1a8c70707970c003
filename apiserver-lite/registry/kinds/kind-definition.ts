// What a kind is made from. Built-in kinds come from the catalogue and their strategies (builtin-kinds.ts); a kind of
// custom resources is defined at run time, with a schema, columns and conversion of its own. Nothing that works with kinds
// may assume that one is in the catalogue's facts or in the table of types.
import type { ResourceInfo } from "../../../api/catalogue.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import type { ObjectSchema } from "../../../api/schema.ts";
import type { Printer } from "../../printing/table.ts";
import type { ResourceStrategy } from "../../resources/strategy.ts";

/** The types that documents of a kind, and bodies sent to its resource, may have. */
export interface Types {
  /** Undefined: there is no such type. */
  schemaOf(apiVersion: string, kind: string): ObjectSchema | undefined;
}

/** Conversion by code of this process: at once, one object after the other. */
interface ImmediateConversion {
  readonly mode: "immediate";
  /** Never changes its argument; may return it. */
  convert(object: AnyObject, apiVersion: string): AnyObject;
  /** Do two versions have one form, so that only the version is another? Absent: all have. */
  isAlike?(apiVersion: string, other: string): boolean;
}

/** Conversion that takes its time (a webhook). Objects stay in the version they were stored in until they are read. */
export interface DeferredConversion {
  readonly mode: "deferred";
  /** Objects that are converted by one call, at most. */
  readonly maxBatch: number;
  /** Longest time of one call. */
  readonly timeoutMs: number;
  /**
   * The same objects in another version, in the same order; they may be in several versions. Never changes its
   * arguments. `signal` is aborted when the time is over. `each`: errors speak of an object, not of its place in a list.
   */
  convert(
    objects: readonly Readonly<AnyObject>[],
    apiVersion: string,
    signal: AbortSignal,
    each?: boolean,
  ): Promise<readonly AnyObject[]>;
}

export type Conversion = ImmediateConversion | DeferredConversion;

/** How and where the objects of a kind are kept. */
export interface StorageRules {
  /** /registry/pods */
  readonly prefix: string;
  /** The version new objects are stored in. */
  readonly apiVersion: string;
  /** Has that version a wire form? Without one it is JSON in stores shared with others. */
  readonly protobuf: boolean;
  /** Objects are removed this long after their last write. */
  readonly ttlSeconds?: number;
}

/** One served version. */
export interface VersionDefinition {
  readonly info: ResourceInfo;
  /** Undefined: any object. */
  readonly schema: ObjectSchema | undefined;
  /** Added to the answer of every request. */
  readonly warnings?: readonly string[];
  /** Bodies and answers may be in protobuf. */
  readonly protobuf: boolean;
  /** The kind's, with what is special about this version. */
  readonly strategy: ResourceStrategy;
  readonly printer: Printer;
}

export interface KindDefinition {
  /** Of the stored version; other versions may have another group. */
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Of the stored form. */
  readonly strategy: ResourceStrategy;
  readonly types: Types;
  readonly conversion: Conversion;
  /** Undefined: its objects are never stored (reviews, componentstatuses). */
  readonly storage: StorageRules | undefined;
  /** At least one. */
  readonly versions: readonly VersionDefinition[];
  /** Sets the schema's defaults; the strategy's own come after. */
  setDefaults(object: AnyObject, apiVersion: string): void;
  /**
   * The same in steps, where defaults may be many; the result is how many bytes of JSON they have. Undefined: this object
   * gets none. Absent: defaults are few.
   */
  settingDefaults?(
    object: AnyObject,
    apiVersion: string,
  ): Steps<number> | undefined;
  /**
   * Brings a stored object into the shape of a schema that may be newer than it. Uses the object up. Undefined: the schema
   * never changes.
   */
  adapt?(object: AnyObject): AnyObject;
  /** Brings a stored value of a version that is no longer served into the shape of today's. */
  upgrade?(object: AnyObject): void;
}

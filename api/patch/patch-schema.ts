// The little that patches ask of a schema: the shape of a node and the merge rules of its fields. The nodes of
// api/schema.ts fit as they are.

export interface PatchSchema {
  readonly type: string;
  /** Of lists. */
  readonly items?: PatchSchema;
  /** Of maps with free keys. */
  readonly values?: PatchSchema;
  /** Of objects. */
  readonly fields?: ReadonlyMap<string, PatchField>;
  readonly mapType?: "atomic" | "granular";
  readonly preserveUnknownFields?: boolean;
}

export interface PatchField {
  readonly schema: PatchSchema;
  /** No list type on a list means atomic (server-side apply). */
  readonly listType?: "map" | "set" | "atomic";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  /** Strategic merge: "merge", "retainKeys", "replace"; absent: replaced. */
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  readonly default?: unknown;
  /** Unset is not the zero value. */
  readonly nullable?: boolean;
  readonly omitEmpty?: boolean;
}

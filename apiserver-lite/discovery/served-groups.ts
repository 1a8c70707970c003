// The contract of what discovery lists: groups and versions in their order, those of other servers among them.

export interface GroupVersions<T extends { readonly version: string }> {
  readonly name: string;
  /** The first is the preferred one. */
  readonly versions: readonly T[];
}

export interface DescribedVersion {
  readonly version: string;
  /** What another server serves; undefined: this one serves it. */
  readonly document?: object;
}

export interface ServedGroups {
  /** For the list of groups, all but the core group. */
  listed(): readonly GroupVersions<{ readonly version: string }>[];
  /** For the lists of groups with their resources. */
  described(): readonly GroupVersions<DescribedVersion>[];
}

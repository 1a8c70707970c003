// The ids of a user namespace.
export interface IdMapping {
  hostId: number;
  containerId: number;
  length: number;
}

/** Ids in a user namespace → ids of the host. */
export interface UserMappings {
  uids: readonly IdMapping[];
  gids: readonly IdMapping[];
}

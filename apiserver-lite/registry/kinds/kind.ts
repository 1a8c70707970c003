// A kind as the registry owns it: its definition, where its objects are, and the versions it is served in. Made when its
// objects have been read, so that what has a kind can read them.
import { Endpoint } from "../endpoint.ts";
import type { KindDefinition } from "./kind-definition.ts";
import type { StoredKind } from "./stored-kind.ts";

export class Kind {
  readonly endpoints: readonly Endpoint[];

  constructor(
    readonly definition: KindDefinition,
    /** Undefined: its objects are never stored. */
    readonly stored: StoredKind | undefined,
    /** Of all kinds a registry ever had, each has another. */
    readonly number: number,
  ) {
    this.endpoints = definition.versions.map(
      (version) => new Endpoint(version, definition, stored, number),
    );
  }
}

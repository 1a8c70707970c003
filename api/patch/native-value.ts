// A part of a configuration that is no JSON: what an expression computed and no schema takes (times, bytes, nulls that it
// wrote itself). The check of types refuses it where there is a type; elsewhere it becomes JSON.

export class NativeValue {
  constructor(
    /** As the reference's language prints it. */
    readonly text: string,
    /** As that language would write it. */
    readonly literal: string,
    /** As that language calls its type. */
    readonly type: string,
    readonly json: unknown,
  ) {}
}

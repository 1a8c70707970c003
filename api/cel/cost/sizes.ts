// What estimates of calls may ask about their operands.
import type { Range } from "./range.ts";
import type { CelType } from "../checking/types.ts";
import type { Node } from "../syntax/tree.ts";

/** A value that an expression computes, as far as its size can be known. */
export interface SizedNode {
  readonly node: Node | undefined;
  readonly type: CelType;
  /** The fields from a variable on, undefined for what is no part of one. */
  readonly path: readonly string[] | undefined;
  /** As the expression itself says it. */
  readonly computed: Range | undefined;
}

export interface Sizes {
  size(value: SizedNode): Range;
  /** The size that libraries count with: scalars are as large as anything else that is not known. */
  limit(value: SizedNode): Range;
  /** A list's element, undefined for what is no list. */
  elementOf(value: SizedNode): SizedNode | undefined;
}

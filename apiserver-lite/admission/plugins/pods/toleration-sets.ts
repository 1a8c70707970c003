// Sets of tolerations: which one covers another, and two lists made one without what is covered.
import type { Toleration } from "../../../../api/types/core-v1.ts";

const isSame = (left: Toleration, right: Toleration): boolean =>
  (left.key ?? "") === (right.key ?? "") &&
  (left.operator ?? "") === (right.operator ?? "") &&
  (left.value ?? "") === (right.value ?? "") &&
  (left.effect ?? "") === (right.effect ?? "") &&
  left.tolerationSeconds === right.tolerationSeconds;

/** Does `wide` tolerate all that `narrow` does? */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const anyKey = !wide.key && wide.operator === "Exists";
  if ((narrow.key ?? "") !== (wide.key ?? "") && !anyKey) return false;
  if ((narrow.effect ?? "") !== (wide.effect ?? "") && wide.effect)
    return false;
  if (
    wide.effect === "NoExecute" &&
    wide.tolerationSeconds !== undefined &&
    (narrow.tolerationSeconds ?? Infinity) > wide.tolerationSeconds
  )
    return false;
  if (wide.operator === "Exists") return true;
  // An operator that is not given means Equal; only one that is written is equal to it, as in the reference.
  return (
    (!wide.operator || wide.operator === "Equal") &&
    narrow.operator === "Equal" &&
    (narrow.value ?? "") === (wide.value ?? "")
  );
}

/** Both lists in their order, without those that another one covers. */
export function mergeTolerations(
  first: readonly Toleration[],
  second: readonly Toleration[],
): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [index, each] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, each)) ||
      all
        .slice(index + 1)
        .some((later) => !isSame(later, each) && covers(later, each));
    if (!isCovered) merged.push(each);
  }
  return merged;
}

/** Is each of them covered by one that is allowed? An empty list allows everything. */
export const allAllowed = (
  tolerations: readonly Toleration[],
  allowed: readonly Toleration[],
): boolean =>
  allowed.length === 0 ||
  tolerations.every((each) => allowed.some((one) => covers(one, each)));

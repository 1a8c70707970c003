// Taints of nodes and the tolerations of pods for them.
import type { Taint, Toleration } from "../types/core-v1.ts";

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  const operator = toleration.operator || "Equal";
  // An empty key tolerates every taint, but only with Exists.
  if (!toleration.key && operator !== "Exists") return false;
  return (
    operator === "Exists" || (toleration.value ?? "") === (taint.value ?? "")
  );
}

/** The first taint of the given effects that no toleration covers. */
export function untoleratedTaint(
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined {
  return taints?.find(
    (taint) =>
      effects.includes(taint.effect) &&
      !tolerations?.some((toleration) => tolerates(toleration, taint)),
  );
}

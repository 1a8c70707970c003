// Labels of nodes by their older names: equal to the stable ones for clients that still select by them.
import type { Node } from "../../api/types/core-v1.ts";

/** Stable name → older name. */
const olderNames: Readonly<Record<string, string>> = {
  "kubernetes.io/os": "beta.kubernetes.io/os",
  "kubernetes.io/arch": "beta.kubernetes.io/arch",
};

/** What has to be written; undefined: nothing. A node without the stable label keeps what it has. */
export function olderLabels({
  metadata: { labels = {} },
}: Node): Record<string, string> | undefined {
  const wanted = Object.entries(olderNames).flatMap(([stable, older]) => {
    const value = labels[stable];
    return value === undefined || labels[older] === value
      ? []
      : [[older, value]];
  });
  return wanted.length > 0
    ? (Object.fromEntries(wanted) as Record<string, string>)
    : undefined;
}

/** The labels that `olderLabels` looks at, to be compared. */
export const labelsOfConcern = ({
  metadata: { labels = {} },
}: Pick<Node, "metadata">): (string | null)[] =>
  Object.entries(olderNames).flatMap((names) =>
    names.map((name) => labels[name] ?? null),
  );

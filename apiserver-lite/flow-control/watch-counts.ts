// How many watches are open that a change of an object concerns: of all objects of its resource, of its namespace and of
// itself. Watches of the pods of one node see few changes and are not counted.
import { parseFieldSelector } from "../../api/selectors.ts";
import type { RequestInfo } from "../request/request-info.ts";

type Watched = Pick<RequestInfo, "group" | "resource" | "namespace" | "name">;

const keyOf = (
  { group, resource }: Watched,
  namespace: string,
  name: string,
): string => `${group}/${resource}/${namespace}/${name}`;

export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /** A watch is begun; returns what is called, once, when it is over. */
  add(info: Watched, query: URLSearchParams): () => void {
    if (info.resource === "pods" && isOfOneNode(query)) return () => undefined;
    const key = keyOf(info, info.namespace, info.name);
    this.#change(key, 1);
    return () => this.#change(key, -1);
  }

  concernedBy(info: Watched): number {
    const counts = this.#counts;
    if (counts.size === 0) return 0;
    const { namespace, name } = info;
    let count = counts.get(keyOf(info, "", "")) ?? 0;
    if (namespace) count += counts.get(keyOf(info, namespace, "")) ?? 0;
    if (name) count += counts.get(keyOf(info, namespace, name)) ?? 0;
    return count;
  }

  #change(key: string, by: number): void {
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

function isOfOneNode(query: URLSearchParams): boolean {
  const selector = query.get("fieldSelector");
  if (!selector?.includes("spec.nodeName")) return false;
  try {
    return Boolean(parseFieldSelector(selector).required("spec.nodeName"));
  } catch {
    // The watch refuses it with a text of its own.
    return false;
  }
}

// Which changes of its Node's labels an agent may make.
import { isAgentLabel } from "../../../api/names.ts";

type Labels = Readonly<Record<string, string>> | undefined;

/** Those added, changed or removed that are not the agent's to set, sorted. */
export function forbiddenNodeLabels(now: Labels, before: Labels): string[] {
  const keys = new Set([
    ...Object.keys(now ?? {}),
    ...Object.keys(before ?? {}),
  ]);
  return [...keys]
    .filter((key) => now?.[key] !== before?.[key] && !isAgentLabel(key))
    .sort();
}

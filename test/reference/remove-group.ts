// Takes a scenario's definitions back: they are outside of its namespace, and discovery would show them to the others.
import type { Server } from "./scenario.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Resolves when nothing of the group is served. */
export async function removeGroup(
  { call }: Server,
  group: string,
): Promise<void> {
  const silent = { silent: true };
  const { body } = await call("definitions", "GET", definitions, silent);
  for (const { metadata, spec } of body.items)
    if (spec.group === group)
      await call("remove", "DELETE", `${definitions}/${metadata.name}`, silent);
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const { status } = await call("until", "GET", `/apis/${group}`, silent);
    if (status === 404) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${group} is still served`);
}

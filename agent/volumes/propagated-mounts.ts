// Mounts that a pod's containers make in a volume and hand on to the node, as privileged ones may.
import type { Pod } from "../../api/types/core-v1.ts";
import { podContainers } from "../pods/shape/pod-shape.ts";
import { mountsBelow } from "./files/mounts.ts";

/** Paths on the node. Nothing is read unless a container asks for it: most nodes have a thousand other mounts. */
export async function propagatedMounts(
  pod: Pod,
  volume: string,
  path: string,
): Promise<readonly string[]> {
  const mayBe = podContainers(pod).some(({ container }) =>
    container.volumeMounts?.some(
      ({ name, mountPropagation }) =>
        name === volume && mountPropagation === "Bidirectional",
    ),
  );
  if (!mayBe) return [];
  return (await mountsBelow(path)).filter((target) => target !== path);
}

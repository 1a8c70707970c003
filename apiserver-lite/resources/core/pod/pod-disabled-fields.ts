// Fields of a pod's spec whose features 1.32 has switched off: they are dropped when an object is written, unless the
// stored one has them already.
import type { Container, PodSpec } from "../../../../api/types/core-v1.ts";
import { containersOf } from "./pod-security-validation.ts";

type Mutable = Record<string, unknown>;

const ofSpec = ["hostUsers", "resourceClaims", "resources"];
const ofPodSecurity = ["supplementalGroupsPolicy", "seLinuxChangePolicy"];

function drop(
  object: object | undefined,
  old: object | undefined,
  names: readonly string[],
): void {
  const [now, was] = [
    object as Mutable | undefined,
    old as Mutable | undefined,
  ];
  for (const name of names)
    if (now && name in now && was?.[name] === undefined) delete now[name];
}

function dropOfContainer(container: Container): void {
  drop(container, undefined, ["resizePolicy"]);
  drop(container.resources, undefined, ["claims"]);
  const security = container.securityContext;
  if (security?.procMount) security.procMount = "Default";
}

/** They go as a whole, and what mounts them. */
function dropImageVolumes(spec: PodSpec): void {
  const names = new Set(
    (spec.volumes ?? [])
      .filter((volume) => "image" in volume)
      .map(({ name }) => name),
  );
  if (names.size === 0) return;
  spec.volumes = spec.volumes!.filter((volume) => !("image" in volume));
  for (const [, container] of containersOf("", spec))
    if (container.volumeMounts)
      container.volumeMounts = container.volumeMounts.filter(
        ({ name }) => !names.has(name),
      );
}

/** `spec` is a private copy and is changed; `old` is the stored one. */
export function dropDisabledFields(
  spec: PodSpec | undefined,
  old?: Readonly<PodSpec>,
): void {
  if (!spec) return;
  drop(spec, old, ofSpec);
  drop(spec.securityContext, old?.securityContext, ofPodSecurity);
  for (const [, container] of containersOf("", spec))
    dropOfContainer(container);
  dropImageVolumes(spec);
  for (const volume of spec.volumes ?? []) {
    for (const source of volume.projected?.sources ?? [])
      drop(source, undefined, ["clusterTrustBundle"]);
  }
}

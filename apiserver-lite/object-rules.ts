// The API server's rules for an object by itself, for programs that read objects without a server: the node agent's
// manifests. It loads the rules of these kinds and nothing of the server, which is most of the program.
import type { FieldError } from "../api/errors.ts";
import { nameRule, dns1035Problems } from "../api/names.ts";
import type { AnyObject } from "../api/object.ts";
import type {
  ConfigMap,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from "../api/types/core-v1.ts";
import { configMapProblems } from "./resources/core/config-map.ts";
import {
  validatePod,
  validatePodCreate,
} from "./resources/core/pod/pod-validation.ts";
import { secretProblems } from "./resources/core/secret.ts";
import { joinClusterIps } from "./resources/core/service/service-assignment.ts";
import { validateService } from "./resources/core/service/service-validation.ts";
import { validateClaimSpec } from "./resources/core/volume/persistent-volume-claim.ts";
import { validateObjectMeta } from "./resources/object-meta.ts";

const rules: Readonly<Record<string, (object: never) => FieldError[]>> = {
  Pod: (pod: Pod) => [...validatePod(pod), ...validatePodCreate(pod)],
  ConfigMap: (map: ConfigMap) => configMapProblems(map),
  Secret: (secret: Secret) => secretProblems(secret),
  PersistentVolumeClaim: ({ spec = {} }: PersistentVolumeClaim) =>
    validateClaimSpec("spec", spec),
  Service(service: Service) {
    const spec = { ...service.spec };
    joinClusterIps(spec);
    return validateService({ ...service, spec });
  },
};

/**
 * All that is wrong with a namespaced object of the core group, with its defaults, as it is about to be stored: Pod, ConfigMap,
 * Secret (without stringData), PersistentVolumeClaim or Service.
 * @throws Error for another kind
 */
export function objectProblems(object: AnyObject): FieldError[] {
  const { kind = "" } = object;
  if (!Object.hasOwn(rules, kind)) throw new Error(`no rules for ${kind}`);
  return [
    ...validateObjectMeta(object, {
      namespaced: true,
      ...(kind === "Service"
        ? { validateName: nameRule(dns1035Problems) }
        : {}),
    }),
    ...rules[kind]!(object as never),
  ];
}

// --allow-privileged=false: no pod, template or ephemeral container with securityContext.privileged is accepted, in the
// reference's words. Stored objects stay; an update of them is refused too, as there.
import { errors, type FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { ResourceStrategy, SubresourceHandler } from "../../strategy.ts";
import { podSpecAt, podSpecPaths } from "./pod-spec-paths.ts";

function privilegedContainers(
  object: Readonly<AnyObject>,
  path: string,
): FieldError[] {
  const spec = podSpecAt(object, path);
  if (!spec) return [];
  return (
    ["containers", "initContainers", "ephemeralContainers"] as const
  ).flatMap((list) =>
    (spec[list] ?? []).flatMap(({ securityContext }, index) =>
      securityContext?.privileged
        ? [
            fieldErrors.forbidden(
              `${path}.${list}[${index}].securityContext.privileged`,
              "disallowed by cluster policy",
            ),
          ]
        : [],
    ),
  );
}

function refusing(handler: SubresourceHandler): SubresourceHandler {
  return {
    ...handler,
    handle(request, context) {
      const problems =
        request.verb !== "get" && request.body
          ? privilegedContainers(request.body, "spec")
          : [];
      if (problems.length > 0)
        throw errors.invalid(
          { group: "", kind: "Pod" },
          request.name,
          problems,
        );
      return handler.handle(request, context);
    },
  };
}

/** The strategy of a resource, which refuses privileged containers too. */
export function withoutPrivileged(
  group: string,
  resource: string,
  strategy: ResourceStrategy,
): ResourceStrategy {
  const path = podSpecPaths[`${group}/${resource}`];
  if (!path) return strategy;
  const ephemeral = strategy.subresources?.["ephemeralcontainers"];
  return {
    ...strategy,
    validate: (object, context) => [
      ...privilegedContainers(object, path),
      ...(strategy.validate?.(object, context) ?? []),
    ],
    ...(ephemeral
      ? {
          subresources: {
            ...strategy.subresources,
            ephemeralcontainers: refusing(ephemeral),
          },
        }
      : {}),
  };
}

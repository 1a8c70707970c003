// The scale subresource of a custom resource: replicas and selector are where the definition's paths say.
import { errors } from "../../api/errors.ts";
import { fieldErrors } from "../../api/field-errors.ts";
import type { FieldError } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import { isJsonObject, setOwn } from "../../api/patch/json-value.ts";
import { mapNotation, valueType } from "../../api/patch/map-notation.ts";
import type { CustomResourceSubresourceScale as ScalePaths } from "../../api/types/apiextensions-v1.ts";
import type { Scale } from "../../api/types/autoscaling-v1.ts";
import type {
  SubresourceHandler,
  SubresourceRequest,
} from "../resources/strategy.ts";
import { typed, untyped } from "../resources/typed.ts";

const maxReplicas = 2 ** 31 - 1;

/** ".spec.replicas" → spec, replicas */
export function stepsOf(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

interface Found {
  readonly value: unknown;
  /** In the reference's notation; set when the value is not what it should be. */
  readonly problem?: string;
}

const nothing: Found = { value: undefined };

function readAt(
  object: Readonly<AnyObject>,
  path: string,
  wanted: "int64" | "string",
): Found {
  const steps = stepsOf(path);
  let value: unknown = object;
  for (const [index, step] of steps.entries()) {
    if (!isJsonObject(value))
      return refused(
        value,
        steps.slice(0, index + 1),
        "map[string]interface{}",
      );
    if (!Object.hasOwn(value, step)) return nothing;
    value = value[step];
    if (value === null || value === undefined) return nothing;
  }
  const fits =
    wanted === "string" ? typeof value === "string" : Number.isInteger(value);
  return fits ? { value } : refused(value, steps, wanted);
}

function refused(
  value: unknown,
  steps: readonly string[],
  wanted: string,
): Found {
  return {
    value: wanted === "string" ? "" : 0,
    problem: `.${steps.join(".")} accessor error: ${mapNotation(value)} is of the type ${valueType(value)}, expected ${wanted}`,
  };
}

/** What of the paths a stored object must not have. */
export function scaleProblems(
  object: Readonly<AnyObject>,
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  statusOnly = false,
): FieldError[] {
  const problems: FieldError[] = [];
  for (const path of statusOnly
    ? [statusReplicasPath]
    : [specReplicasPath, statusReplicasPath]) {
    const { value = 0, problem } = readAt(object, path, "int64");
    const why =
      problem ??
      ((value as number) < 0
        ? "should be a non-negative integer"
        : (value as number) > maxReplicas
          ? `should be less than or equal to ${maxReplicas}`
          : undefined);
    if (why) problems.push(fieldErrors.invalid(path, value, why));
  }
  if (labelSelectorPath) {
    const { value, problem } = readAt(object, labelSelectorPath, "string");
    if (problem)
      problems.push(fieldErrors.invalid(labelSelectorPath, value, problem));
  }
  return problems;
}

interface FoundScale {
  readonly scale: Scale;
  readonly hasReplicas: boolean;
}

/** Throws ApiError 500 for values that are no counts. */
function scaleOf(object: Readonly<AnyObject>, paths: ScalePaths): FoundScale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } =
    object.metadata;
  const read = (path: string, wanted: "int64" | "string"): unknown => {
    const { value, problem } = readAt(object, path, wanted);
    if (problem) throw errors.internal(problem);
    return value;
  };
  const replicas = read(paths.specReplicasPath, "int64") as number | undefined;
  const running = read(paths.statusReplicasPath, "int64") as number | undefined;
  const selector = paths.labelSelectorPath
    ? (read(paths.labelSelectorPath, "string") as string | undefined)
    : undefined;
  return {
    hasReplicas: replicas !== undefined,
    scale: {
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      metadata: {
        name,
        ...(namespace ? { namespace } : {}),
        uid,
        resourceVersion,
        creationTimestamp,
      } as Scale["metadata"],
      spec: replicas ? { replicas } : {},
      status: { replicas: running ?? 0, ...(selector ? { selector } : {}) },
    },
  };
}

/** The body may leave out where it belongs, but not say something else. */
function checkPlace(
  { metadata }: Scale,
  { name, namespace }: SubresourceRequest,
): void {
  if (metadata?.namespace && metadata.namespace !== namespace)
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  if (metadata?.name && metadata.name !== name)
    throw errors.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
}

export function customScale(
  paths: ScalePaths,
  resource: { group: string; resource: string },
): SubresourceHandler {
  return {
    admitted: {
      show: (object) => untyped(scaleOf(object, paths).scale),
      take(object, shown) {
        const { replicas = 0 } = typed<Scale>(shown).spec ?? {};
        setReplicas(object, paths.specReplicasPath, replicas);
      },
    },
    async handle(request, context) {
      if (request.verb === "get") {
        const { scale, hasReplicas } = scaleOf(await context.parent(), paths);
        if (!hasReplicas)
          throw errors.internal(
            `the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`,
          );
        return untyped(scale);
      }
      const scale = typed<Scale>(request.body!);
      checkPlace(scale, request);
      const changed = await context.mutate((object) => {
        const { resourceVersion, uid } = scale.metadata ?? {};
        if (
          resourceVersion &&
          resourceVersion !== object.metadata.resourceVersion
        )
          throw errors.stale(resource, request.name);
        if (uid && uid !== object.metadata.uid)
          throw errors.conflict(
            resource,
            request.name,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid ?? ""}`,
          );
        setReplicas(object, paths.specReplicasPath, scale.spec?.replicas ?? 0);
        const problems = scaleProblems(object, paths);
        if (problems.length > 0)
          throw errors.invalid(
            { group: resource.group, kind: object.kind! },
            request.name,
            problems,
          );
      });
      return untyped(scaleOf(changed, paths).scale);
    },
  };
}

function setReplicas(object: AnyObject, path: string, replicas: number): void {
  const steps = stepsOf(path);
  const last = steps.pop()!;
  let at: Record<string, unknown> = object;
  for (const step of steps) {
    if (!isJsonObject(at[step])) setOwn(at, step, {});
    at = at[step] as Record<string, unknown>;
  }
  setOwn(at, last, replicas);
}

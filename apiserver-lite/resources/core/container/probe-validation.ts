// Validation of probes and lifecycle hooks: exactly one handler, its port, and the numbers around it.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  httpHeaderProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../../api/names.ts";
import type {
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
} from "../../../../api/types/core-v1.ts";
import {
  joined,
  nonNegative,
  ofEach,
  oneOf,
  positive,
} from "../../field-checks.ts";

type Problems = FieldError[];

function validatePort(
  field: string,
  port: number | string | undefined,
): Problems {
  if (typeof port === "string")
    return invalidEach(field, port, portNameProblems(port));
  return invalidEach(field, port ?? 0, portNumberProblems(port ?? 0));
}

function validateHttp(field: string, http: HTTPGetAction): Problems {
  return joined(
    http.path ? [] : [fieldErrors.required(`${field}.path`)],
    validatePort(`${field}.port`, http.port),
    oneOf(`${field}.scheme`, http.scheme, ["HTTP", "HTTPS"]),
    ofEach(http.httpHeaders, ({ name }) =>
      invalidEach(`${field}.httpHeaders`, name, httpHeaderProblems(name)),
    ),
  );
}

/** A hook sleeps for a while within what its pod has to end. */
function validateSleep(
  field: string,
  seconds: number,
  graceSeconds: number,
): Problems {
  return seconds > 0 && seconds <= graceSeconds
    ? []
    : [
        fieldErrors.invalid(
          field,
          seconds,
          `must be greater than 0 and less than terminationGracePeriodSeconds (${graceSeconds}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`,
        ),
      ];
}

type Handler = LifecycleHandler & Pick<Probe, "grpc">;
const handlerKinds = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function validateHandler(
  field: string,
  handler: Handler,
  graceSeconds: number,
): Problems {
  const kinds = handlerKinds.filter((kind) => handler[kind]);
  if (kinds.length === 0)
    return [fieldErrors.required(field, "must specify a handler type")];
  return ofEach(kinds, (kind, index) =>
    index > 0
      ? [
          fieldErrors.forbidden(
            `${field}.${kind}`,
            "may not specify more than 1 handler type",
          ),
        ]
      : validateAction(`${field}.${kind}`, kind, handler, graceSeconds),
  );
}

function validateAction(
  field: string,
  kind: (typeof handlerKinds)[number],
  handler: Handler,
  graceSeconds: number,
): Problems {
  switch (kind) {
    case "exec":
      return handler.exec!.command?.length
        ? []
        : [fieldErrors.required(`${field}.command`)];
    case "httpGet":
      return validateHttp(field, handler.httpGet!);
    case "sleep":
      return validateSleep(field, handler.sleep!.seconds, graceSeconds);
    default:
      return validatePort(`${field}.port`, handler[kind]!.port);
  }
}

export function validateLifecycle(
  field: string,
  lifecycle: Lifecycle | undefined,
  graceSeconds: number,
): Problems {
  if (!lifecycle) return [];
  return ofEach(["postStart", "preStop"] as const, (hook) => {
    const handler = lifecycle[hook];
    return handler
      ? validateHandler(`${field}.${hook}`, handler, graceSeconds)
      : [];
  });
}

type ProbeKind = "livenessProbe" | "readinessProbe" | "startupProbe";

/** `field` names the container. Only readiness may ask for several successes, and has no grace of its own. */
export function validateProbe(
  field: string,
  kind: ProbeKind,
  probe: Probe | undefined,
  graceSeconds: number,
): Problems {
  if (!probe) return [];
  const path = `${field}.${kind}`;
  const problems = validateHandler(path, probe, graceSeconds);
  for (const name of [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const)
    if ((probe[name] ?? 0) < 0)
      problems.push(...nonNegative(`${path}.${name}`, probe[name]));
  const ownGrace = probe.terminationGracePeriodSeconds;
  const graceField = `${path}.terminationGracePeriodSeconds`;
  problems.push(...positive(graceField, ownGrace));
  if (kind === "readinessProbe") {
    if (ownGrace !== undefined)
      problems.push(
        fieldErrors.invalid(
          graceField,
          ownGrace,
          "must not be set for readinessProbes",
        ),
      );
  } else if (probe.successThreshold !== 1)
    problems.push(
      fieldErrors.invalid(
        `${path}.successThreshold`,
        probe.successThreshold ?? 0,
        "must be 1",
      ),
    );
  return problems;
}

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
import { nonNegative, oneOf, positive } from "../../field-checks.ts";

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
  return [
    ...(http.path ? [] : [fieldErrors.required(`${field}.path`)]),
    ...validatePort(`${field}.port`, http.port),
    ...oneOf(`${field}.scheme`, http.scheme, ["HTTP", "HTTPS"]),
    ...(http.httpHeaders ?? []).flatMap(({ name }) =>
      invalidEach(`${field}.httpHeaders`, name, httpHeaderProblems(name)),
    ),
  ];
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

function validateHandler(
  field: string,
  handler: LifecycleHandler & Pick<Probe, "grpc">,
  graceSeconds: number,
): Problems {
  const checks = {
    exec: ({ command }) =>
      command?.length ? [] : [fieldErrors.required(`${field}.exec.command`)],
    httpGet: (http) => validateHttp(`${field}.httpGet`, http),
    tcpSocket: ({ port }) => validatePort(`${field}.tcpSocket.port`, port),
    grpc: ({ port }) => validatePort(`${field}.grpc.port`, port),
    sleep: ({ seconds }) =>
      validateSleep(`${field}.sleep`, seconds, graceSeconds),
  } satisfies {
    [Kind in keyof typeof handler]-?: (
      action: NonNullable<(typeof handler)[Kind]>,
    ) => Problems;
  };
  const kinds = (Object.keys(checks) as (keyof typeof checks)[]).filter(
    (kind) => handler[kind],
  );
  if (kinds.length === 0)
    return [fieldErrors.required(field, "must specify a handler type")];
  return kinds.flatMap((kind, index) =>
    index > 0
      ? [
          fieldErrors.forbidden(
            `${field}.${kind}`,
            "may not specify more than 1 handler type",
          ),
        ]
      : (checks[kind] as (action: unknown) => Problems)(handler[kind]),
  );
}

export function validateLifecycle(
  field: string,
  lifecycle: Lifecycle | undefined,
  graceSeconds: number,
): Problems {
  return (["postStart", "preStop"] as const).flatMap((hook) => {
    const handler = lifecycle?.[hook];
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

// Validation of probes and lifecycle hooks: exactly one handler, its port, and the numbers around it.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  httpHeaderProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../api/names.ts";
import type { LifecycleHandler, Probe } from "../../../api/types/core-v1.ts";
import { nonNegative, oneOf } from "../field-checks.ts";

type Problems = FieldError[];

function validateHandlerPort(
  field: string,
  port: number | string | undefined,
): Problems {
  if (typeof port === "string")
    return invalidEach(field, port, portNameProblems(port));
  return invalidEach(field, port ?? 0, portNumberProblems(port ?? 0));
}

export function validateHandler(
  field: string,
  handler: LifecycleHandler & Probe,
): Problems {
  const problems: Problems = [];
  let kinds = 0;
  const forbid = (kind: string): boolean => {
    if (++kinds > 1)
      problems.push(
        fieldErrors.forbidden(
          `${field}.${kind}`,
          "may not specify more than 1 handler type",
        ),
      );
    return kinds === 1;
  };
  if (handler.exec && forbid("exec") && !handler.exec.command?.length) {
    problems.push(fieldErrors.required(`${field}.exec.command`));
  }
  if (handler.httpGet && forbid("httpGet")) {
    const path = `${field}.httpGet`;
    if (!handler.httpGet.path)
      problems.push(fieldErrors.required(`${path}.path`));
    problems.push(...validateHandlerPort(`${path}.port`, handler.httpGet.port));
    problems.push(
      ...oneOf(`${path}.scheme`, handler.httpGet.scheme, ["HTTP", "HTTPS"]),
    );
    for (const header of handler.httpGet.httpHeaders ?? []) {
      problems.push(
        ...invalidEach(
          `${path}.httpHeaders`,
          header.name,
          httpHeaderProblems(header.name),
        ),
      );
    }
  }
  if (handler.tcpSocket && forbid("tcpSocket")) {
    problems.push(
      ...validateHandlerPort(`${field}.tcpSocket.port`, handler.tcpSocket.port),
    );
  }
  if (handler.grpc && forbid("grpc"))
    problems.push(
      ...validateHandlerPort(`${field}.grpc.port`, handler.grpc.port),
    );
  if (handler.sleep && forbid("sleep") && handler.sleep.seconds < 0) {
    problems.push(
      fieldErrors.invalid(
        `${field}.sleep`,
        handler.sleep.seconds,
        "must be greater than or equal to 0",
      ),
    );
  }
  if (kinds === 0)
    problems.push(fieldErrors.required(field, "must specify a handler type"));
  return problems;
}

export function validateProbe(
  field: string,
  probe: Probe | undefined,
  successIsOne: boolean,
): Problems {
  if (!probe) return [];
  const problems = validateHandler(field, probe);
  const names = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const;
  for (const name of names)
    problems.push(...nonNegative(`${field}.${name}`, probe[name]));
  if (
    successIsOne &&
    probe.successThreshold !== undefined &&
    probe.successThreshold !== 1
  ) {
    problems.push(
      fieldErrors.invalid(
        `${field}.successThreshold`,
        probe.successThreshold,
        "must be 1",
      ),
    );
  }
  return problems;
}

// What users of a pod see of a runtime's errors: in statuses and events, in the form that the reference has at each place.
import { RuntimeError, type RuntimeErrorCode } from "./runtime.ts";

const grpcNames: Readonly<Record<RuntimeErrorCode, string>> = {
  "not-found": "NotFound",
  unavailable: "Unavailable",
  timeout: "DeadlineExceeded",
  unsupported: "Unimplemented",
  invalid: "InvalidArgument",
  unknown: "Unknown",
};

/** The same with the code in front, where the reference shows the call's status: `rpc error: code = Unknown desc = …`. */
export function runtimeStatusText(error: unknown): string {
  const text = runtimeErrorText(error);
  return error instanceof RuntimeError && !text.startsWith("rpc error: ")
    ? `rpc error: code = ${grpcNames[error.code]} desc = ${text}`
    : text;
}

/** Of a pull: as the reference, with the code where that says more than that there was an error. */
export function pullFailureText(error: unknown): string {
  return error instanceof RuntimeError && error.code === "unknown"
    ? error.detail
    : runtimeStatusText(error);
}

/** The text of an error for the users of a pod. */
export function runtimeErrorText(error: unknown): string {
  if (error instanceof RuntimeError) return error.detail;
  return error instanceof Error ? error.message : String(error);
}

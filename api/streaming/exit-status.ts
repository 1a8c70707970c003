// How the error stream reports the end of an exec or attach: as a Status object from protocol version 4 on, before it as
// plain text (nothing for success).
import type { Status } from "../types/meta-v1.ts";
import { ApiError } from "../errors.ts";

/** The command ended with this code; 0 is success. */
export function exitStatus(exitCode: number): Status {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

/** The command could not be run or followed; `what` as in "executing command in container". */
export function failureStatus(error: unknown, what: string): Status {
  if (error instanceof ApiError) return error.status;
  const message = `Internal error occurred: error ${what}: ${error instanceof Error ? error.message : String(error)}`;
  return {
    metadata: {},
    status: "Failure",
    message,
    reason: "InternalError",
    details: {
      causes: [{ message: message.replace("Internal error occurred: ", "") }],
    },
    code: 500,
  };
}

/** What goes on the error stream: JSON from version 4 on, text before. Empty: nothing is sent. */
export function encodeStatus(
  status: Status,
  withStatusObject: boolean,
): Buffer {
  if (withStatusObject) return Buffer.from(JSON.stringify(status));
  return Buffer.from(status.status === "Success" ? "" : (status.message ?? ""));
}

/** The exit code in what came on the error stream. Throws an Error for anything but a command's own end. */
export function decodeStatus(bytes: Buffer, withStatusObject: boolean): number {
  const text = bytes.toString("utf8");
  if (!withStatusObject) {
    if (text === "") return 0;
    throw new Error(text);
  }
  let status: Partial<Status>;
  try {
    status = JSON.parse(text) as Partial<Status>;
  } catch {
    throw new Error(
      text === ""
        ? "the connection ended before the command's exit was known"
        : text,
    );
  }
  if (status.status === "Success") return 0;
  if (status.reason === "NonZeroExitCode") {
    const cause = status.details?.causes?.find(
      ({ reason }) => reason === "ExitCode",
    )?.message;
    if (cause !== undefined && /^\d+$/.test(cause)) return Number(cause);
  }
  // The peer's own Status, so that who passes it on adds no second "Internal error occurred".
  throw new ApiError({
    ...status,
    code: status.code ?? 500,
    message: status.message ?? "the command failed",
  });
}

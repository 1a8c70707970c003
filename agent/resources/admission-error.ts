// Why a resource manager refuses a pod on this node: the pod becomes Failed with the reason.

export class AdmissionError extends Error {
  constructor(
    /** As the reference names it, e.g. TopologyAffinityError. */
    readonly reason: string,
    message: string,
  ) {
    super(message);
    this.name = "AdmissionError";
  }
}

/** What is reported of any error that an allocation ended with; texts are the reference's. */
export function admissionRefusal(error: unknown): {
  reason: string;
  message: string;
} {
  if (error instanceof AdmissionError)
    return { reason: error.reason, message: error.message };
  const text = error instanceof Error ? error.message : String(error);
  return {
    reason: "UnexpectedAdmissionError",
    message: `Allocate failed due to ${text}, which is unexpected`,
  };
}

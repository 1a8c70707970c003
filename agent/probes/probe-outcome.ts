// What one probe of a container found out.

export interface ProbeOutcome {
  /** error: the probe itself could not be made; counts neither way. */
  verdict: "success" | "failure" | "error";
  output: string;
  warning?: boolean;
}

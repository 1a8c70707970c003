// What pods of a priority get when the machine shuts down (shutdownGracePeriod… of KubeletConfiguration).

export interface ShutdownPeriod {
  /** Pods of this priority and above, up to the next period's. */
  readonly priority: number;
  readonly graceSeconds: number;
}

// What announces that the machine shuts down, and can hold it up for a while: logind.ts, or a test.

export interface ShutdownLock {
  /** Lets the machine go on. */
  release(): void;
}

export interface ShutdownWatch {
  stop(): void;
}

export interface ShutdownSource {
  /** The longest time for which a lock holds up the shutdown. */
  maximumDelayMs(): Promise<number>;
  /** Raises it for good; how much it is afterwards says maximumDelayMs. */
  raiseMaximumDelay(delayMs: number): Promise<void>;
  /** Resolves when the lock is held. */
  lock(): Promise<ShutdownLock>;
  /**
   * Resolves when events are heard.
   * @param onChange true: the machine shuts down; false: it does not after all
   * @param onEnd nothing is heard any more, though stop() was not called
   */
  watch(
    onChange: (active: boolean) => void,
    onEnd: () => void,
  ): Promise<ShutdownWatch>;
}

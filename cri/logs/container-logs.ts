// The seam between a runtime and those who read and rotate its containers' logs.
import type { Readable } from "node:stream";

/** A container as its log is found by. */
export interface LoggedContainer {
  id: string;
  /** "" where the runtime writes no file. */
  logPath: string;
}

export interface LogOptions {
  follow: boolean;
  timestamps: boolean;
  /** Lines before it are left out. */
  sinceMs?: number;
  tailLines?: number;
  limitBytes?: number;
  stream?: "stdout" | "stderr";
  /** Whether the container may still write. */
  isRunning: () => boolean;
  /** Calls back when isRunning may have changed; returns a disposer. */
  onStateChange?: (listener: () => void) => () => void;
}

/**
 * The logs of a runtime's containers, however it keeps them. A runtime that writes files in the CRI format at logPath
 * takes createLogFiles (logs/log-files.ts).
 */
export interface ContainerLogs {
  /** The text, without framing; with follow it ends with the container. A log that is not there errs with ENOENT. */
  open(container: LoggedContainer, options: LogOptions): Readable;
  /** The last lines, at most so many characters of them. */
  tail(
    container: LoggedContainer,
    maxLines: number,
    maxCharacters: number,
  ): Promise<string>;
  /** Of what is written to now; undefined when there is none. */
  sizeBytes(container: LoggedContainer): Promise<number | undefined>;
  /** The log of a container that runs is gone: its writer begins a new one. */
  renew(container: LoggedContainer): Promise<void>;
  /** Begins a new log; of all of them, the new one included, at most maxFiles are kept. Readers lose nothing. */
  rotate(container: LoggedContainer, maxFiles: number): Promise<void>;
}

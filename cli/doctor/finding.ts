// What one check of `orbit doctor` found.

export interface Finding {
  /** What was looked at, e.g. `inotify instances`. */
  readonly name: string;
  /** `failed`: a cluster does not run well like this; `warning`: it may stop to. */
  readonly state: "ok" | "warning" | "failed";
  /** What was found, with its limit. */
  readonly found: string;
  /** The command or option that changes it; never with `ok`. */
  readonly remedy?: string;
}

/** What a check reads of the machine: a test gives its own. */
export interface MachineFiles {
  /** Text of a file, or undefined where there is none. */
  read(path: string): Promise<string | undefined>;
  /** Names in a directory, or none where it can't be read. */
  list(path: string): Promise<string[]>;
  /** Target of a link, or undefined. */
  link(path: string): Promise<string | undefined>;
}

export const ok = (name: string, found: string): Finding => ({
  name,
  state: "ok",
  found,
});

export const warning = (
  name: string,
  found: string,
  remedy: string,
): Finding => ({ name, state: "warning", found, remedy });

export const failed = (
  name: string,
  found: string,
  remedy: string,
): Finding => ({ name, state: "failed", found, remedy });

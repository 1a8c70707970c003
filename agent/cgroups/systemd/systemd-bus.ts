// systemd's manager on the system bus, by `busctl`, which is a part of systemd: transient slices are started, changed and
// stopped. A call takes one short process; slices are made once a pod.
import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import type { UnitProperty } from "./unit-properties.ts";

export interface SystemdBus {
  /** Resolves when systemd took the job; a slice that runs already is left as it is. */
  startSlice(name: string, properties: readonly UnitProperty[]): Promise<void>;
  /** Until the unit stops. */
  setProperties(
    name: string,
    properties: readonly UnitProperty[],
  ): Promise<void>;
  /** One that does not run is no error. */
  stop(name: string): Promise<void>;
}

const manager = [
  "org.freedesktop.systemd1",
  "/org/freedesktop/systemd1",
  "org.freedesktop.systemd1.Manager",
];
const callTimeoutMs = 20_000;

/** @throws Error when systemd is not this machine's process 1 */
export async function openSystemdBus(): Promise<SystemdBus> {
  await access("/run/systemd/system").catch(() => {
    throw new Error(
      "--cgroup-driver=systemd: systemd does not run as this machine's process 1",
    );
  });
  return {
    async startSlice(name, properties) {
      await call("StartTransientUnit", "ssa(sv)a(sa(sv))", [
        ...[name, "replace"],
        ...list(properties),
        "0",
      ]).catch(unless("already exists", "already loaded"));
    },
    async setProperties(name, properties) {
      if (properties.length === 0) return;
      await call("SetUnitProperties", "sba(sv)", [
        ...[name, "true"],
        ...list(properties),
      ]);
    },
    async stop(name) {
      await call("StopUnit", "ss", [name, "replace"]).catch(
        unless("not loaded"),
      );
    },
  };
}

function list(properties: readonly UnitProperty[]): string[] {
  return [String(properties.length), ...properties.flat()];
}

/** Errors with one of the texts are none. */
function unless(...texts: readonly string[]): (error: Error) => void {
  return (error) => {
    if (!texts.some((text) => error.message.includes(text))) throw error;
  };
}

function call(
  method: string,
  signature: string,
  parameters: readonly string[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(
      "busctl",
      [
        ...["--system", "--quiet", "call"],
        ...[...manager, method, signature, "--"],
        ...parameters,
      ],
      { timeout: callTimeoutMs, env: { ...process.env, LC_ALL: "C" } },
      (error, _output, complaint) => {
        if (!error) resolve();
        else
          reject(
            new Error(
              `systemd: ${method} ${parameters[0]}: ${complaint.trim() || error.message}`,
            ),
          );
      },
    );
  });
}

// Named places at which a robustness run ends (or stops) the program: `crashPoint("store.append.written")`. A run
// installs `globalThis.orbitCrashPoint` before it loads the program; without one a crash point does nothing.
// tools/build.mjs removes every call from the product, so a call must be a statement on a line of its own, with a literal
// name (a test reads the bundle and the sources).

declare global {
  var orbitCrashPoint: ((name: string) => void) | undefined;
}

/** Names begin with the part they are in: store., podworker. */
export function crashPoint(name: string): void {
  globalThis.orbitCrashPoint?.(name);
}

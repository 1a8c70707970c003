// Programs that report something for as long as this process lives, and end with it even when it is killed: one that reports
// seldom would learn much later that its reader is gone, and systemd names it as left over at each start.

/** The kernel sends the signal when the process that started it is gone. */
const script = `setpriv --pdeathsig TERM true 2>/dev/null && set -- setpriv --pdeathsig TERM "$@"; exec "$@"`;

/** @returns what to start instead; where setpriv can't do it, as BusyBox's, the program ends at its next report */
export function endingWithUs(program: readonly string[]): string[] {
  return ["sh", "-c", script, "sh", ...program];
}

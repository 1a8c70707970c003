/** Processor time of the process while `work` runs: what else the machine does is not in it. */
export function cpuMsOf(work: () => void): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/**
 * Processor time of the longest step, in microseconds: of the best of twenty runs, or of the first that stays below the
 * bound, as the collector's threads count for the step beside which they run.
 */
export function longestStepUs(
  makeSteps: () => Iterator<unknown>,
  boundUs: number,
): number {
  let best = Infinity;
  for (let run = 0; run < 20 && best >= boundUs; run++) {
    const steps = makeSteps();
    let longest = 0;
    for (let done = false; !done;) {
      const before = process.cpuUsage().user;
      done = steps.next().done ?? false;
      longest = Math.max(longest, process.cpuUsage().user - before);
    }
    best = Math.min(best, longest);
  }
  return best;
}

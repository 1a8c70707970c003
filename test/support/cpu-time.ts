/** Processor time of the process while `work` runs: what else the machine does is not in it. */
export function cpuMsOf(work: () => void): number {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

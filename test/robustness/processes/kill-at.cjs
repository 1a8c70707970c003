// Preloaded into a process: SIGKILL at the visit of a crash point that ORBIT_CRASH_POINT names, as `name:visit`.
const [name, visit] = (process.env.ORBIT_CRASH_POINT ?? "").split(":");
let visits = 0;
globalThis.orbitCrashPoint = (visited) => {
  if (visited === name && ++visits >= Number(visit))
    process.kill(process.pid, "SIGKILL");
};

// Preloaded into a process: SIGKILL at the visit of a crash point that is named as `name:visit` by ORBIT_CRASH_POINT, or by
// the content of the file ORBIT_CRASH_POINT_FILE, which may be written while the process runs.
const { readFileSync } = require("node:fs");

const { ORBIT_CRASH_POINT: fixed, ORBIT_CRASH_POINT_FILE: file } = process.env;
let visits = 0;

function planned() {
  if (!file) return fixed ?? "";
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

globalThis.orbitCrashPoint = (visited) => {
  const [name, visit] = planned().split(":");
  if (visited === name && ++visits >= Number(visit))
    process.kill(process.pid, "SIGKILL");
};

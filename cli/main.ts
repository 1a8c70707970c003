// Entry of the built program (dist/orbit.js): runs at load. bin/orbit, bin/orbitctl and bin/orbitlet start it.
import { runProgram } from "./program.ts";

void runProgram(process.argv.slice(2)).then((code) => {
  // undefined: a server is running and ends the process itself.
  if (code === undefined) return;
  process.exitCode = code;
  // After a failure nothing that is still open may keep the process alive.
  if (code !== 0) setTimeout(() => process.exit(code), 1000);
});

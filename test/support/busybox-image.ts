// The image tests run their containers from: Debian's static busybox, made by tools/busybox-image.mjs once a run and
// kept in the run's directory. Name: docker.io/library/busybox:latest (short: busybox).
import { execFile } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { promisify } from "node:util";
import { busyboxTarName } from "./run/run-state.ts";

export const busyboxImage = "docker.io/library/busybox:latest";

/** Path of the image's tar; made when it is not there or older than busybox itself or the tool. */
export async function busyboxImageTar(): Promise<string> {
  const tool = path.join(__dirname, "../../tools/busybox-image.mjs");
  const tar = path.join(os.tmpdir(), busyboxTarName);
  const newest = Math.max(
    fs.statSync(tool).mtimeMs,
    fs.statSync("/bin/busybox").mtimeMs,
  );
  const made = fs.statSync(tar, { throwIfNoEntry: false });
  if (!made || made.mtimeMs < newest)
    await promisify(execFile)(process.execPath, [tool, tar, busyboxImage]);
  return tar;
}

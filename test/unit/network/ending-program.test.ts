// Programs that end with the process that started them, also when it is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as path from "node:path";
import { endingWithUs } from "../../../network/ending-program.ts";
import { eventually } from "../../support/eventually.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

/** Starts what it is given, says its pid, and lives on. */
const starter = `
  const { spawn } = require("node:child_process");
  const [program, ...words] = process.argv.slice(1);
  console.log(spawn(program, words, { stdio: "ignore" }).pid);
  setInterval(() => {}, 1000);`;

const commandOf = (pid: number): string => {
  try {
    return fs
      .readFileSync(`/proc/${pid}/cmdline`, "utf8")
      .replaceAll("\0", " ");
  } catch {
    return "";
  }
};

test("it is the program itself, and ends when its starter is killed", async () => {
  const parent = spawn(
    process.execPath,
    ["-e", starter, ...endingWithUs(["sleep", "1007"])],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(said.toString());
  await eventually(() => commandOf(pid) === "sleep 1007 ").finally(() =>
    parent.kill("SIGKILL"),
  );
  await eventually(() => commandOf(pid) === "", { what: "the program to end" });
});

test("without setpriv it runs all the same", async () => {
  const directory = makeTempDirectory("orbit-test-ending-");
  fs.symlinkSync("/bin/echo", path.join(directory, "echo"));
  const child = spawn("/bin/sh", endingWithUs(["echo", "runs"]).slice(1), {
    env: { PATH: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString()).toBe("runs\n");
  removeTempDirectory(directory);
});

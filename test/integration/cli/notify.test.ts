// What systemd is told (sd_notify): READY=1 once it serves, WATCHDOG=1 at half the period, STOPPING=1 at the signal. socat
// stands in for systemd's socket, as Node has no datagram unix sockets.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directory = useTempDirectories();
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

test("systemd is told of readiness, life and the end", async () => {
  const place = directory();
  const socket = path.join(place, "notify");
  let heard = "";
  const listener = spawn("socat", ["-u", `UNIX-RECV:${socket}`, "-"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(listener);
  listener.stdout.on("data", (chunk: Buffer) => (heard += chunk.toString()));
  await eventually(() => fs.existsSync(socket), { what: "the socket" });
  const server = spawn(
    orbitProgram,
    [
      "apiserver",
      "--storage-backend=memory",
      "--bind-address=127.0.0.1",
      `--secure-port=${await freePort()}`,
      `--cert-dir=${place}`,
    ],
    {
      stdio: "ignore",
      env: { ...process.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: "400000" },
    },
  );
  children.push(server);
  await eventually(() => heard.includes("READY=1"), { what: "READY=1" });
  await eventually(() => heard.split("WATCHDOG=1").length > 3, {
    what: "WATCHDOG=1 again and again",
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  expect(await ended).toBe(0);
  await eventually(() => heard.includes("STOPPING=1"), { what: "STOPPING=1" });
});

test("a directory that can't be made is an error at once, also below /proc", async () => {
  const place = directory();
  const { status, stderr } = spawnSync(
    orbitProgram,
    [
      "server",
      "--disable=agent",
      "--store=memory",
      `--data-dir=${place}`,
      "--write-kubeconfig=/proc/nowhere/orbit.yaml",
      `--secure-port=${await freePort()}`,
      "--controllers-port=0",
    ],
    { encoding: "utf8", timeout: 100_000 },
  );
  expect(status).toBe(1);
  expect(stderr).toContain("--write-kubeconfig: ");
});

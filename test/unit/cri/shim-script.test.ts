// The script in front of containerd's shim: what it answers itself, and that everything else reaches the shim unchanged.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { createServer, type Server } from "node:net";
import * as path from "node:path";
import { shimScript } from "../../../cri/private-containerd/shim-script.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("o'rbit-shim-");
const sandbox = "ab".repeat(32);
const container = "cd".repeat(32);
const servers: Server[] = [];

/** Bundles of a pod, and a shim that prints its arguments. */
function tasks(): {
  state: string;
  bundle: (id: string) => string;
  run: (id: string, ...action: string[]) => Buffer;
} {
  const directory = temporary();
  const state = path.join(directory, "runc");
  fs.mkdirSync(path.join(state, "k8s.io"), { recursive: true });
  const shim = path.join(directory, "shim");
  fs.writeFileSync(shim, '#!/bin/sh\nprintf "real:%s" "$*"\n', { mode: 0o755 });
  const script = path.join(directory, "script");
  fs.writeFileSync(script, shimScript(shim, state), { mode: 0o755 });
  const bundle = (id: string): string =>
    path.join(directory, "state", "tasks", "k8s.io", id);
  for (const id of [sandbox, container]) {
    fs.mkdirSync(path.join(bundle(id), "rootfs"), { recursive: true });
    fs.writeFileSync(
      path.join(bundle(id), "config.json"),
      `{"annotations":{"io.kubernetes.cri.sandbox-id":"${sandbox}","x":"y"}}`,
    );
  }
  return {
    state,
    bundle,
    run(id, ...action) {
      const { stdout, stderr, status } = spawnSync(
        script,
        ["-namespace", "k8s.io", "-address", "/a b", "-id", id, ...action],
        { cwd: bundle(id) },
      );
      expect([status, stderr.toString()]).toEqual([0, ""]);
      return stdout;
    },
  };
}

async function listen(file: string): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(file, resolve));
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const real = (id: string, action: string): string =>
  `real:-namespace k8s.io -address /a b -id ${id} ${action}`;

test("a further container gets the address of its sandbox's shim", async () => {
  const { bundle, run } = tasks();
  // Longer names than 107 bytes can't be listened on.
  const socket = path.join(temporary(), "s");
  await listen(socket);
  fs.writeFileSync(path.join(bundle(sandbox), "address"), `unix://${socket}`);
  expect(run(container, "start").toString()).toBe(`unix://${socket}`);
  expect(fs.readFileSync(path.join(bundle(container), "address"), "utf8")).toBe(
    `unix://${socket}`,
  );
});

test("a sandbox, a container whose sandbox has no shim, and one of no pod get a shim", () => {
  const { bundle, run } = tasks();
  expect(run(sandbox, "start").toString()).toBe(real(sandbox, "start"));
  expect(run(container, "start").toString()).toBe(real(container, "start"));
  const address = path.join(bundle(sandbox), "address");
  // Its socket is gone.
  fs.writeFileSync(address, "unix:///nowhere/s");
  expect(run(container, "start").toString()).toBe(real(container, "start"));
  for (const strange of ["", "{}", "unix://relative"]) {
    fs.writeFileSync(address, strange);
    expect(run(container, "start").toString()).toBe(real(container, "start"));
  }
  for (const config of [
    "{}",
    '{"annotations":{"io.kubernetes.cri.sandbox-id":"../../x"}}',
  ]) {
    fs.writeFileSync(path.join(bundle(container), "config.json"), config);
    expect(run(container, "start").toString()).toBe(real(container, "start"));
  }
  fs.rmSync(path.join(bundle(container), "config.json"));
  expect(run(container, "start").toString()).toBe(real(container, "start"));
});

test("a sandbox is known by containerd's directory, whatever its configuration says", async () => {
  const { bundle, run } = tasks();
  const socket = path.join(temporary(), "s");
  await listen(socket);
  fs.writeFileSync(path.join(bundle(sandbox), "address"), `unix://${socket}`);
  const known = path.join(
    bundle(container),
    "../../../io.containerd.grpc.v1.cri/sandboxes",
  );
  fs.mkdirSync(path.join(known, container), { recursive: true });
  expect(run(container, "start").toString()).toBe(real(container, "start"));
});

test("what was removed in good order is not removed again", () => {
  const { run } = tasks();
  const before = Math.floor(Date.now() / 1000);
  const answer = run(container, "-bundle", "b", "delete");
  // exit_status 137; exited_at { seconds }, as a number of five bytes.
  expect(answer.subarray(0, 6).toString("hex")).toBe("1089011a0608");
  const seconds = [...answer.subarray(6)].reduce(
    (sum, byte, n) => sum + (byte & 127) * 2 ** (7 * n),
    0,
  );
  expect(answer).toHaveLength(11);
  expect(answer[10]! & 128).toBe(0);
  expect(seconds).toBeGreaterThanOrEqual(before);
  expect(seconds).toBeLessThan(before + 60);
});

test("what is left of a task is the shim's to remove", () => {
  const { state, bundle, run } = tasks();
  const left = path.join(state, "k8s.io", container);
  fs.mkdirSync(left);
  const action = ["-bundle", "b", "delete"];
  const answer = real(container, action.join(" "));
  expect(run(container, ...action).toString()).toBe(answer);
  fs.rmSync(left, { recursive: true });
  for (const file of ["bin", ".hidden"]) {
    const mounted = path.join(bundle(container), "rootfs", file);
    fs.writeFileSync(mounted, "");
    expect(run(container, ...action).toString()).toBe(answer);
    fs.rmSync(mounted);
  }
  // The state is kept somewhere else.
  fs.rmSync(state, { recursive: true });
  expect(run(container, ...action).toString()).toBe(answer);
});

// The script in front of containerd's shim: what it answers itself, and that everything else reaches the shim unchanged.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { connect, createServer, type Server } from "node:net";
import * as path from "node:path";
import { hostArchitecture } from "../../../cri/machine-code/architecture.ts";
import {
  installShimScript,
  shimScript,
} from "../../../cri/private-containerd/shim-script.ts";
import { shimStarter } from "../../../cri/private-containerd/shim-starter.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories("o'rbit-shim-");
/** Short, as the names of sockets have a limit. */
const sandbox = "ab".repeat(8);
const container = "cd".repeat(8);
const servers: Server[] = [];

/** Bundles of a pod, and a shim that prints its arguments. */
function tasks(settings: Partial<Parameters<typeof shimScript>[0]> = {}): {
  state: string;
  bundle: (id: string) => string;
  /** Makes containerd's own directory of the sandbox. */
  sandboxKnown: (id: string) => void;
  run: (id: string, ...action: string[]) => Buffer;
} {
  const directory = temporary();
  const state = path.join(directory, "runc");
  fs.mkdirSync(path.join(state, "k8s.io"), { recursive: true });
  const shim = path.join(directory, "shim");
  fs.writeFileSync(shim, '#!/bin/sh\nprintf "real:%s" "$*"\n', { mode: 0o755 });
  const script = path.join(directory, "script");
  const text = shimScript({ shim, stateDirectory: state, ...settings });
  fs.writeFileSync(script, text, { mode: 0o755 });
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
    sandboxKnown(id) {
      const known = "../../../io.containerd.grpc.v1.cri/sandboxes";
      fs.mkdirSync(path.join(bundle(id), known, id), { recursive: true });
    },
    run(id, ...action) {
      const { stdout, stderr, status } = spawnSync(
        script,
        ["-namespace", "k8s.io", "-address", "/a b", "-id", id, ...action],
        { cwd: bundle(id), timeout: 10_000 },
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
  const { bundle, run, sandboxKnown } = tasks();
  const socket = path.join(temporary(), "s");
  await listen(socket);
  fs.writeFileSync(path.join(bundle(sandbox), "address"), `unix://${socket}`);
  sandboxKnown(container);
  expect(run(container, "start").toString()).toBe(real(container, "start"));
});

/** A shim that writes down what it was given, and goes on. */
function startedShim(): {
  settings: { shim: string; starter: string; socketDirectory: string };
  given: () => Promise<Record<string, string>>;
} {
  const directory = temporary();
  const at = (name: string): string => path.join(directory, name);
  const given = at("given");
  fs.writeFileSync(
    at("shim"),
    `#!/bin/sh
[ "$1" = -namespace ] && [ "$7" = "" ] || { printf "real:%s" "$*"; exit; }
group=$(ps -o pgid= -p $$)
files=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 | tr '\\n' ' ')
cat >"$0.new" <<GIVEN
pid=$$
arguments=$*
own group=$([ $group = $$ ] && echo yes)
bundle=$(pwd)
score=$(cat /proc/$$/oom_score_adj)
files=$files
socket=$(readlink /proc/$$/fd/3)
GIVEN
mv "$0.new" "\${0%/*}/given"
exec sleep 60
`,
    { mode: 0o755 },
  );
  fs.writeFileSync(at("starter"), shimStarter(hostArchitecture()), {
    mode: 0o755,
  });
  return {
    settings: {
      shim: at("shim"),
      starter: at("starter"),
      socketDirectory: directory,
    },
    async given() {
      await eventually(() => fs.existsSync(given), { what: "the shim to run" });
      const lines = fs.readFileSync(given, "utf8").trimEnd().split("\n");
      const fields = Object.fromEntries(
        lines.map(
          (line) => line.split(/=(.*)/).slice(0, 2) as [string, string],
        ),
      );
      started.push(Number(fields["pid"]));
      return fields;
    },
  };
}
const started: number[] = [];
afterEach(() => {
  for (const pid of started.splice(0)) process.kill(pid);
});

test("a sandbox's shim is started with a socket that waits for its containerd", async () => {
  const { settings, given } = startedShim();
  const { bundle, run, sandboxKnown } = tasks(settings);
  sandboxKnown(sandbox);
  const socket = path.join(settings.socketDirectory, sandbox);
  const address = `unix://${socket}`;
  expect(run(sandbox, "start").toString()).toBe(address);
  expect(fs.statSync(socket).mode & 0o777).toBe(0o600);
  const score = Number(fs.readFileSync("/proc/self/oom_score_adj", "utf8"));
  expect(await given()).toEqual({
    pid: expect.any(String) as string,
    arguments: `-namespace k8s.io -id ${sandbox} -address /a b`,
    "own group": "yes",
    bundle: bundle(sandbox),
    score: String(score + 1),
    files: "/dev/null /dev/null /dev/null ",
    socket: expect.stringMatching(/^socket:/) as string,
  });
  const file = path.join(bundle(sandbox), "address");
  expect(fs.readFileSync(file, "utf8")).toBe(address);
  await new Promise<void>((resolve, reject) => {
    const connection = connect(socket, () => {
      connection.destroy();
      resolve();
    }).once("error", reject);
  });
});

test.each([
  { where: "its socket's place is taken", taken: true, more: [] },
  { where: "it is to log more", taken: false, more: ["-debug"] },
])("a sandbox's shim starts itself where $where", ({ taken, more }) => {
  const { settings } = startedShim();
  const { run, sandboxKnown } = tasks(settings);
  sandboxKnown(sandbox);
  if (taken) fs.writeFileSync(path.join(settings.socketDirectory, sandbox), "");
  const answer = real(sandbox, [...more, "start"].join(" "));
  expect(run(sandbox, ...more, "start").toString()).toBe(answer);
});

/** The bytes were run once on each architecture; a change has to be run again before this is brought up to date. */
test.each([
  ["amd64", "f973342affb1ea98b90dd15c18586125c1a47d03a4e0885656e2a2fa2f4adff8"],
  ["arm64", "9e2e43d49f4d1dd3c6187182ae41959158886bf883796f4aad60949bf7dc72a7"],
] as const)("the starter for %s has not changed", (architecture, digest) => {
  const program = shimStarter(architecture);
  expect(createHash("sha256").update(program).digest("hex")).toBe(digest);
});

test.each([
  ["1.6.20~ds1", true],
  ["v1.6.33", true],
  ["1.7.24~ds1", true],
  ["v2.1.9", false],
  ["", false],
])(
  "with a shim of version %s the starter is used: %s",
  async (version, used) => {
    const directory = temporary();
    const shim = path.join(directory, "containerd-shim-runc-v2");
    fs.writeFileSync(
      shim,
      `#!/bin/sh\nprintf '%s:\n  Version:  %s\n' "$0" "${version}"\n`,
      { mode: 0o755 },
    );
    const scripts = path.join(directory, "bin");
    expect(await installShimScript(scripts, directory)).toBe(scripts);
    const text = fs.readFileSync(
      path.join(scripts, path.basename(shim)),
      "utf8",
    );
    expect(/^starter=''$/m.test(text)).toBe(!used);
  },
);

test("on a processor that has no starter the script is there all the same", async () => {
  const directory = temporary();
  const shim = path.join(directory, "containerd-shim-runc-v2");
  fs.writeFileSync(shim, "#!/bin/sh\necho '  Version: 1.6.20'\n", {
    mode: 0o755,
  });
  const arch = Object.getOwnPropertyDescriptor(process, "arch")!;
  Object.defineProperty(process, "arch", { ...arch, value: "s390x" });
  const scripts = path.join(directory, "bin");
  const installed = installShimScript(scripts, directory).finally(() =>
    Object.defineProperty(process, "arch", arch),
  );
  expect(await installed).toBe(scripts);
  const text = fs.readFileSync(path.join(scripts, path.basename(shim)), "utf8");
  expect(text).toMatch(/^starter=''$/m);
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

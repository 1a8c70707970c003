// Plug-ins that put a socket into plugins_registry: taken, refused, restarted, gone, hanging. Real sockets and gRPC.
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { systemClock } from "../../../../api/clock.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import {
  PluginRegistration,
  type PluginHandler,
  type RegisteredPlugin,
} from "../../../../agent/plugin-registration/plugin-registration.ts";
import { eventually } from "../../../support/eventually.ts";
import { openPluginSocket } from "../../../support/plugins/plugin-socket.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const directories = useTempDirectories();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Recorded extends PluginHandler {
  readonly calls: string[];
}

function recorder(over: Partial<PluginHandler> = {}): Recorded {
  const calls: string[] = [];
  const text = ({ name, endpoint, versions }: RegisteredPlugin): string =>
    `${name} ${endpoint} ${versions.join()}`;
  return {
    calls,
    validate: () => undefined,
    register: (plugin) => {
      calls.push(`register ${text(plugin)}`);
      return Promise.resolve();
    },
    deregister: ({ name }) => void calls.push(`deregister ${name}`),
    ...over,
  };
}

async function registry(
  handler: PluginHandler,
  logger = pino({ level: "silent" }),
): Promise<{ directory: string; registration: PluginRegistration }> {
  const directory = join(directories(), "plugins_registry");
  const registration = new PluginRegistration({
    directory,
    clock: systemClock,
    logger,
  });
  registration.registerHandler("CSIPlugin", handler);
  await registration.start();
  closing.push(() => registration.stop());
  return { directory, registration };
}

const csi = {
  type: "CSIPlugin",
  name: "hostpath.csi.example.com",
  endpoint: "/run/csi.sock",
  supported_versions: ["1.0.0"],
};

async function open(
  path: string,
  info: Parameters<typeof openPluginSocket>[1],
): ReturnType<typeof openPluginSocket> {
  const socket = await openPluginSocket(path, info);
  closing.push(() => socket.close());
  return socket;
}

test("a plug-in is taken once, and dropped when its socket goes", async () => {
  const handler = recorder();
  const { directory } = await registry(handler);
  const socket = await open(join(directory, "csi-reg.sock"), csi);
  await eventually(() => socket.notified.length === 1);
  expect(socket.notified).toEqual([""]);
  expect(handler.calls).toEqual([
    "register hostpath.csi.example.com /run/csi.sock 1.0.0",
  ]);
  await writeFile(join(directory, "beside"), "not a socket");
  await socket.close();
  await eventually(() => handler.calls.length === 2);
  expect(handler.calls[1]).toBe("deregister hostpath.csi.example.com");
  expect(socket.asked()).toBe(1);
});

test("one that was there before the agent, in a folder, without an endpoint", async () => {
  const directory = join(directories(), "plugins_registry");
  await mkdir(join(directory, "driver"), { recursive: true });
  const path = join(directory, "driver", "reg.sock");
  const socket = await open(path, { ...csi, endpoint: "" });
  const handler = recorder();
  const registration = new PluginRegistration({
    directory,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  registration.registerHandler("CSIPlugin", handler);
  await registration.start();
  closing.push(() => registration.stop());
  await eventually(() => socket.notified.length === 1);
  expect(handler.calls).toEqual([
    `register hostpath.csi.example.com ${path} 1.0.0`,
  ]);
});

test("a socket made again registers again, after the first was dropped", async () => {
  const handler = recorder();
  const { directory } = await registry(handler);
  const path = join(directory, "a.sock");
  const first = await open(path, csi);
  await eventually(() => first.notified.length === 1);
  // Nobody removes it: the new one takes its place within one event.
  const second = await open(path, { ...csi, supported_versions: ["2.0.0"] });
  await eventually(() => second.notified.length === 1);
  expect(handler.calls).toEqual([
    "register hostpath.csi.example.com /run/csi.sock 1.0.0",
    "deregister hostpath.csi.example.com",
    "register hostpath.csi.example.com /run/csi.sock 2.0.0",
  ]);
});

test.each([
  [
    { ...csi, type: "Nonsense" },
    {},
    /^RegisterPlugin error -- no handler registered for plugin type: Nonsense at socket .*b\.sock$/,
  ],
  [
    { ...csi, name: "" },
    {},
    /^RegisterPlugin error -- plugin validation failed with err: plugin name is empty$/,
  ],
  [
    { ...csi, supported_versions: Array.from({ length: 65 }, () => "1") },
    {},
    /more than 64 versions/,
  ],
  [
    csi,
    {
      validate: () => {
        throw new Error("unsupported version");
      },
    },
    /plugin validation failed with err: unsupported version$/,
  ],
  [
    csi,
    { register: () => Promise.reject(new Error("no node")) },
    /plugin registration failed with err: no node$/,
  ],
])(
  "a refused plug-in is notified why, and asked again: %#",
  async (info, over, text) => {
    const handler = recorder(over);
    const { directory } = await registry(handler);
    const socket = await open(join(directory, "b.sock"), info);
    await eventually(() => socket.notified.length >= 2);
    expect(socket.notified[0]).toMatch(text);
    expect(handler.calls.filter((call) => call.startsWith("register"))).toEqual(
      [],
    );
  },
);

test("a plug-in that hangs holds up no other and not the stop", async () => {
  // A machine that stands still for a moment is forgiven; one that waits for the answer waits each time.
  await eventually(async () => {
    const { directory, registration } = await registry(recorder());
    const silent = await open(
      join(directory, "silent.sock"),
      () => new Promise(() => undefined),
    );
    await eventually(() => silent.asked() > 0);
    const good = await open(join(directory, "good.sock"), csi);
    await eventually(() => good.notified.length === 1);
    const begun = performance.now();
    await registration.stop();
    // Before the second that its answer may take is over.
    return performance.now() - begun < 900;
  });
});

test("hidden sockets and links are left alone", async () => {
  const handler = recorder();
  const { directory, registration } = await registry(handler);
  const hidden = await open(join(directory, ".hidden.sock"), csi);
  const shown = await open(join(directory, "shown.sock"), csi);
  await eventually(() => shown.notified.length === 1);
  expect(hidden.asked()).toBe(0);
  const path = join(directory, "shown.sock");
  expect(metricsText(registration.families())).toContain(
    `plugin_manager_total_plugins{socket_path="${path}",state="desired_state_of_world"} 1
plugin_manager_total_plugins{socket_path="${path}",state="actual_state_of_world"} 1
`,
  );
  await rm(join(directory, "shown.sock"));
  await eventually(() => handler.calls.length === 2);
});

test("one that is refused again and again is one short line in the log at growing distances", async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: "info" },
    {
      write: (line: string) =>
        void lines.push(JSON.parse(line) as Record<string, unknown>),
    },
  );
  const validate = (): never => {
    throw new Error(`no\n${"x".repeat(10_000)}`);
  };
  const { directory } = await registry(recorder({ validate }), logger);
  const socket = await open(join(directory, "bad.sock"), csi);
  await eventually(() => lines.some(({ tries }) => tries === 4));
  expect(socket.asked()).toBeGreaterThanOrEqual(4);
  expect(lines.map(({ tries }) => tries)).toEqual([1, 2, 4]);
  for (const line of lines) {
    expect(line).not.toHaveProperty("err");
    expect(JSON.stringify(line).length).toBeLessThan(1024);
    expect(line["reason"]).toContain("plugin validation failed with err: no");
  }
});

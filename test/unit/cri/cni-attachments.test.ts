// The invocation of CNI plug-ins: order, input, undoing, and what is remembered of it. The plug-ins are shell scripts that
// record how they were called.
import * as fs from "node:fs";
import * as path from "node:path";
import { Attachments } from "../../../cri/cni/attachments.ts";
import { cniFileName } from "../../../cri/cni/configuration.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

interface Call {
  plugin: string;
  command: string;
  namespace: string;
  input: Record<string, unknown>;
}

function machine(plugins: object[] = [{ type: "first" }, { type: "second" }]) {
  const directory = directories();
  const bin = path.join(directory, "bin");
  const configuration = path.join(directory, "net.d");
  const log = path.join(directory, "calls");
  for (const made of [bin, configuration]) fs.mkdirSync(made);
  const plugin = (name: string, answer: string): void =>
    fs.writeFileSync(
      path.join(bin, name),
      `#!/bin/sh\ninput=$(cat)\necho "$CNI_COMMAND ${name} $CNI_NETNS $input" >> ${log}\n${answer}\n`,
      { mode: 0o755 },
    );
  const result = (address: string): string =>
    `echo '{"cniVersion":"0.4.0","ips":[{"version":"4","address":"${address}"}]}'`;
  plugin("first", result("10.1.2.3/24"));
  plugin("second", result("10.1.2.4/24"));
  const write = (name: string, content: unknown): void =>
    fs.writeFileSync(path.join(configuration, name), JSON.stringify(content));
  write("10-net.conflist", { cniVersion: "0.4.0", name: "net", plugins });
  const state = path.join(directory, "state");
  return {
    plugin,
    write,
    configuration,
    state,
    attachments: (...more: string[]) =>
      new Attachments({
        configurationDirectories: [...more, configuration],
        binaryDirectories: [path.join(directory, "none"), bin],
        stateDirectory: state,
      }),
    calls: (): Call[] =>
      (fs.existsSync(log) ? fs.readFileSync(log, "utf8") : "")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => {
          const [command = "", name = "", namespace = ""] = line.split(" ");
          const input = line.slice(line.indexOf("{"));
          return { command, plugin: name, namespace, input: JSON.parse(input) };
        }),
    order: (calls: Call[]): string[] =>
      calls.map(({ command, plugin: name }) => `${command} ${name}`),
  };
}

const sandbox = {
  containerId: "a".repeat(64),
  namespace: "/proc/1/ns/net",
  args: { K8S_POD_NAME: "p" },
  capabilities: { portMappings: [{ hostPort: 1 }], dns: {} },
};

test("plug-ins are called in order, each with the result before it, and backwards to undo", async () => {
  const { attachments, calls, order, state } = machine([
    { type: "first" },
    { type: "second", capabilities: { portMappings: true }, snat: true },
  ]);
  const one = attachments();
  expect(await one.attach(sandbox)).toEqual(["10.1.2.4"]);
  const [first, second] = calls();
  expect(first!.input).toEqual({
    type: "first",
    name: "net",
    cniVersion: "0.4.0",
  });
  expect(second!.input).toMatchObject({
    snat: true,
    prevResult: { ips: [{ address: "10.1.2.3/24" }] },
    runtimeConfig: { portMappings: [{ hostPort: 1 }] },
  });
  expect(second!.input).not.toHaveProperty("runtimeConfig.dns");
  await one.check(sandbox.containerId);
  await one.detach(sandbox.containerId, state, "");
  // Nothing is left to undo.
  await one.detach(sandbox.containerId, state, "");
  expect(order(calls())).toEqual([
    ...["ADD first", "ADD second", "CHECK first", "CHECK second"],
    ...["DEL second", "DEL first"],
  ]);
  expect(calls().at(-1)).toMatchObject({
    namespace: "",
    input: { prevResult: { ips: [{ address: "10.1.2.4/24" }] } },
  });
  expect(await one.addresses(sandbox.containerId)).toBeUndefined();
  expect(await one.ids()).toEqual([]);
});

test("the plug-in for limits is called for pods that have some alone", async () => {
  const { attachments, plugin, calls, order, state } = machine([
    { type: "first" },
    { type: "bandwidth", capabilities: { bandwidth: true } },
  ]);
  plugin("bandwidth", `echo '{"ips":[{"address":"10.1.2.5/24"}]}'`);
  const one = attachments();
  await one.attach(sandbox);
  await one.detach(sandbox.containerId, state, "");
  expect(order(calls())).toEqual(["ADD first", "DEL first"]);
  const bandwidth = { ingressRate: 1000 };
  await one.attach({ ...sandbox, capabilities: { bandwidth } });
  await one.detach(sandbox.containerId, state, "");
  expect(order(calls()).slice(2)).toEqual([
    ...["ADD first", "ADD bandwidth"],
    ...["DEL bandwidth", "DEL first"],
  ]);
  expect(calls()[3]!.input).toMatchObject({ runtimeConfig: { bandwidth } });
});

test("another process undoes it with the configuration it was made with", async () => {
  const { attachments, calls, order, state, configuration } = machine();
  await attachments().attach(sandbox);
  fs.rmSync(path.join(configuration, "10-net.conflist"));
  const other = attachments();
  expect(await other.network()).toBeUndefined();
  expect(await other.addresses(sandbox.containerId)).toEqual(["10.1.2.4"]);
  await other.detach(sandbox.containerId, state, "/proc/2/ns/net");
  expect(order(calls()).slice(2)).toEqual(["DEL second", "DEL first"]);
});

test("a plug-in that fails: its text is reported, and what the others made is undone", async () => {
  const { attachments, plugin, calls, order } = machine();
  plugin(
    "second",
    `[ $CNI_COMMAND = DEL ] || { echo '{"code":7,"msg":"no more addresses","details":"all in use"}'; exit 1; }`,
  );
  const one = attachments();
  await expect(one.attach(sandbox)).rejects.toThrow(
    'plugin type="second" failed (add): no more addresses; all in use',
  );
  expect(order(calls())).toEqual([
    ...["ADD first", "ADD second", "DEL second", "DEL first"],
  ]);
  expect(await one.ids()).toEqual([]);
});

test("what a crash in the middle left is known, not attached, and undone", async () => {
  const { attachments, plugin, calls, order, state } = machine();
  plugin("second", "exit 1");
  const one = attachments();
  // Undoing fails too: the file stays.
  await expect(one.attach(sandbox)).rejects.toThrow("exit code 1");
  expect(await one.ids()).toEqual([sandbox.containerId]);
  expect(await one.addresses(sandbox.containerId)).toBeUndefined();
  plugin("second", "");
  const next = attachments();
  await next.detach(sandbox.containerId, state, "");
  expect(order(calls()).slice(-2)).toEqual(["DEL second", "DEL first"]);
  expect(await next.ids()).toEqual([]);
});

test("a file cut in half by a power loss is no attachment", async () => {
  const { attachments, state } = machine();
  fs.mkdirSync(state);
  fs.writeFileSync(path.join(state, `${sandbox.containerId}.json`), '{"list"');
  const one = attachments();
  expect(await one.addresses(sandbox.containerId)).toBeUndefined();
  await one.detach(sandbox.containerId, state, "");
  expect(await one.ids()).toEqual([]);
});

test("another program's configuration comes before ours, another cluster's does not count", async () => {
  const { attachments, write } = machine();
  const foreign = directories();
  const file = (name: string): string => path.join(foreign, name);
  const list = { name: "theirs", plugins: [{ type: "first" }] };
  fs.writeFileSync(file(cniFileName), JSON.stringify(list));
  write(cniFileName, { name: "ours", plugins: [{ type: "first" }] });
  expect((await attachments(foreign).network())?.name).toBe("net");
  fs.writeFileSync(file("10-a.conf"), '{"name":"single","type":"first"}');
  expect(await attachments(foreign).network()).toMatchObject({
    name: "single",
    plugins: [{ type: "first" }],
  });
});

test.each([
  ["no JSON", "{", /10-net.conflist: .*JSON/],
  ["no name", '{"plugins":[{"type":"first"}]}', /has no name/],
  ["no plug-in", '{"name":"n","plugins":[]}', /names no plug-in/],
  ["a path", '{"name":"n","plugins":[{"type":"../x"}]}', /names no plug-in/],
])(
  "a configuration with %s is refused by its file",
  async (_name, text, message) => {
    const { attachments, configuration } = machine();
    fs.writeFileSync(path.join(configuration, "10-net.conflist"), text);
    await expect(attachments().network()).rejects.toThrow(message);
    await expect(attachments().attach(sandbox)).rejects.toThrow(message);
  },
);

test("a plug-in that is not there is named with the path", async () => {
  const { attachments } = machine([{ type: "absent" }]);
  await expect(attachments().attach(sandbox)).rejects.toThrow(
    /failed to find plugin "absent" in path \[.*none .*bin\]/,
  );
});

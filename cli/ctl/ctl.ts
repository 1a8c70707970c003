// orbit ctl (orbitctl): kubectl-style commands against an API server, and the few that make sense against one node agent.
import { writeFileSync } from "node:fs";
import { parseOptions, type OptionValues } from "../options/parse.ts";
import {
  connectionOptions,
  profileOptions,
  unusedOptions,
} from "../options/ctl.ts";
import { helpText, wantsHelp } from "../options/help.ts";
import { UsageError, type OptionTable } from "../options/table.ts";
import { orbitVersion } from "../version.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { errorText, type CtlHttp } from "./http.ts";
import type { ResourceNames } from "./resource-names.ts";

/** Recorded with --profile: what the process spends its time or memory on, however the command ends. */
async function profiled<T>(
  values: OptionValues,
  run: () => Promise<T>,
): Promise<T> {
  const kind = values.text("profile");
  if (kind === "none") return run();
  const { Session } = await import("node:inspector/promises");
  const session = new Session();
  session.connect();
  try {
    if (kind === "cpu") {
      await session.post("Profiler.enable");
      await session.post("Profiler.start");
    } else await session.post("HeapProfiler.startSampling");
    return await run();
  } finally {
    const { profile } =
      kind === "cpu"
        ? await session.post("Profiler.stop")
        : await session.post("HeapProfiler.stopSampling");
    session.disconnect();
    writeProfile(values.text("profile-output"), JSON.stringify(profile));
  }
}

function writeProfile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--profile-output: ${(error as Error).message}`);
  }
}

export const ctlCommands: Readonly<Record<string, () => Promise<CtlCommand>>> =
  {
    patch: async () => (await import("./patch.ts")).patchCommand,
    convert: async () => (await import("./convert.ts")).convertCommand,
    get: async () => (await import("./get.ts")).getCommand,
    create: async () => (await import("./write.ts")).createCommand,
    apply: async () => (await import("./write.ts")).applyCommand,
    replace: async () => (await import("./write.ts")).replaceCommand,
    delete: async () => (await import("./write.ts")).deleteCommand,
    logs: async () => (await import("./logs.ts")).logsCommand,
    exec: async () => (await import("./exec.ts")).execCommand,
    attach: async () => (await import("./exec.ts")).attachCommand,
    cp: async () => (await import("./streams/copy.ts")).copyCommand,
    "port-forward": async () =>
      (await import("./streams/port-forward.ts")).portForwardCommand,
    describe: async () =>
      (await import("./inspect/describe.ts")).describeCommand,
    top: async () => (await import("./inspect/top.ts")).topCommand,
    label: async () => (await import("./modify.ts")).labelCommand,
    annotate: async () => (await import("./modify.ts")).annotateCommand,
    scale: async () => (await import("./modify.ts")).scaleCommand,
    wait: async () => (await import("./wait.ts")).waitCommand,
    version: async () => (await import("./information.ts")).versionCommand,
    "api-resources": async () =>
      (await import("./information.ts")).apiResourcesCommand,
    "api-versions": async () =>
      (await import("./information.ts")).apiVersionsCommand,
    "cluster-info": async () =>
      (await import("./information.ts")).clusterInfoCommand,
    config: async () => (await import("./information.ts")).configCommand,
  };

function overview(): string {
  return `Usage: orbitctl COMMAND [options]\n\nCommands: ${Object.keys(ctlCommands).join(", ")}\n\nUse "orbitctl COMMAND --help" for a command's options.\n`;
}

/** Options that are written before a command and take the word after them. */
const leading =
  /^(-n|-s|--namespace|--server|--context|--kubeconfig|--orbitconfig)$/;

/** The command's name may come after options (orbitctl -n x get pods): the first word that is a command. */
function findCommand(argv: readonly string[]): number {
  return argv.findIndex(
    (word, index) =>
      Object.hasOwn(ctlCommands, word) && !leading.test(argv[index - 1] ?? ""),
  );
}

/** What is there where the command should be: neither an option nor the value of one. */
function unknownWord(argv: readonly string[]): string | undefined {
  return argv.find(
    (word, index) =>
      !word.startsWith("-") && !leading.test(argv[index - 1] ?? ""),
  );
}

export async function runCtl(argv: readonly string[]): Promise<number> {
  const at = findCommand(argv);
  if (at < 0) {
    const asked =
      argv.length === 0 ||
      argv[0] === "help" ||
      argv.includes("--help") ||
      argv.includes("-h");
    if (!asked && argv.includes("--version"))
      process.stdout.write(`orbitctl ${orbitVersion}\n`);
    else if (asked) process.stdout.write(overview());
    else
      throw new UsageError(
        `unknown command "${unknownWord(argv) ?? argv[0]}" for "orbitctl"`,
      );
    return 0;
  }
  const command = await ctlCommands[argv[at]!]!();
  const table: OptionTable = [
    { title: "Options", options: command.options },
    connectionOptions,
    profileOptions,
    unusedOptions,
  ];
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  if (wantsHelp(rest, table)) {
    process.stdout.write(
      helpText(`orbitctl ${command.usage}`, command.about, table),
    );
    return 0;
  }
  const values = parseOptions(table, rest, { operands: true });
  for (const name of values.withoutEffect())
    process.stderr.write(`Warning: --${name} has no effect\n`);
  let http: Promise<CtlHttp> | undefined;
  let names: Promise<ResourceNames> | undefined;
  const connect = async (): Promise<CtlHttp> => {
    const [{ chooseConnection }, { CtlHttp: Http }] = await Promise.all([
      import("./connection.ts"),
      import("./http.ts"),
    ]);
    const made = new Http(await chooseConnection(values));
    if (values.flag("match-server-version")) {
      const { kubernetesVersion } = await import("../version.ts");
      const { gitVersion } = await made.json<{ gitVersion: string }>({
        path: "/version",
      });
      if (gitVersion !== kubernetesVersion)
        throw new UsageError(
          `server version (${gitVersion}) differs from client version (${kubernetesVersion})`,
        );
    }
    return made;
  };
  const context: CtlContext = {
    values,
    args: values.operands,
    http: () => (http ??= connect()),
    names: () =>
      (names ??= Promise.all([
        context.http(),
        import("./resource-names.ts"),
        import("./node-agent.ts").then(({ refuseAgent }) =>
          refuseAgent(context),
        ),
      ]).then(([made, { ResourceNames: Names }]) => new Names(made))),
    namespace: async () =>
      (await context.http()).connection.namespace || "default",
    print: (text) => void process.stdout.write(text),
    warn: (text) =>
      void process.stderr.write(text.endsWith("\n") ? text : `${text}\n`),
  };
  process.stdout.on("error", () => process.exit(0)); // `orbitctl get … | head`
  try {
    const code = (await profiled(values, () => command.run(context))) ?? 0;
    const warned = http ? (await http).warnings : 0;
    if (code === 0 && warned > 0 && values.flag("warnings-as-errors")) {
      process.stderr.write(
        `error: ${warned} warning${warned === 1 ? "" : "s"} received\n`,
      );
      return 1;
    }
    return code;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`${errorText(error)}\n`);
    return 1;
  } finally {
    await http?.then((made) => made.close()).catch(() => undefined);
  }
}

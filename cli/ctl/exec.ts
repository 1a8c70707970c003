// orbitctl exec and attach. The exit code is the remote command's.
import { option } from "../options/build-table.ts";
import { UsageError } from "../options/table.ts";
import type { CtlCommand, CtlContext } from "./command.ts";
import { chooseContainer, podOf } from "./logs.ts";
import { runRemotely, type RemoteCommand } from "./streams/remote-command.ts";

/** The terminal's size, now and when it changes; with input it is raw until the end. */
function followTerminal(raw: boolean): NonNullable<RemoteCommand["onOpen"]> {
  return (resize) => {
    const report = (): void => {
      const { columns, rows } = process.stdout;
      if (columns && rows) resize({ Width: columns, Height: rows });
    };
    report();
    process.stdout.on("resize", report);
    if (raw) process.stdin.setRawMode(true);
    return () => {
      if (raw) process.stdin.setRawMode(false);
      process.stdout.removeListener("resize", report);
    };
  };
}

async function stream(
  context: CtlContext,
  podName: string,
  verb: "exec" | "attach",
  command: readonly string[],
): Promise<number> {
  const { values } = context;
  const pod = await podOf(context, podName);
  const container = chooseContainer(context, pod);
  const tty = values.flag("tty");
  const stdin = values.flag("stdin");
  const result = await runRemotely(context, pod, container, {
    verb,
    command,
    tty,
    stdout: process.stdout,
    stderr: process.stderr,
    ...(stdin ? { stdin: process.stdin } : {}),
    ...(tty ? { onOpen: followTerminal(stdin && process.stdin.isTTY) } : {}),
  });
  if ("message" in result) {
    context.warn(`error: ${result.message}`);
    return 1;
  }
  if (result.code !== 0)
    context.warn(`command terminated with exit code ${result.code}`);
  return result.code;
}

const streamOptions = [
  option("container", "string", "", "Container.", { short: "c" }),
  option("stdin", "bool", "false", "Pass standard input.", { short: "i" }),
  option("tty", "bool", "false", "Standard input is a terminal.", {
    short: "t",
  }),
];

export const execCommand: CtlCommand = {
  usage: "exec (POD | TYPE/NAME) [-c CONTAINER] [-it] -- COMMAND [ARGUMENTS…]",
  about: "Run a command in a container.",
  options: streamOptions,
  run: (context) => {
    const { args, values } = context;
    const command = values.afterDashes ?? args.slice(1);
    if (!args[0] || command.length === 0)
      throw new UsageError(
        "pod, type/name and a command after -- must be given",
      );
    return stream(context, args[0], "exec", command);
  },
};

export const attachCommand: CtlCommand = {
  usage: "attach (POD | TYPE/NAME) [-c CONTAINER] [-it]",
  about: "Attach to a running container.",
  options: streamOptions,
  run: (context) => {
    const { args } = context;
    if (!args[0]) throw new UsageError("a pod or type/name must be given");
    return stream(context, args[0], "attach", []);
  },
};

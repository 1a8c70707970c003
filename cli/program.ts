// The orbit command: routes a subcommand to its module, which is loaded only then (start-up time), and turns failures
// into exit codes: 0 a clean end, 1 a bad option or configuration, 2 a dependency that is not there, 70 anything else.
import { Command } from "commander";
import { unexpectedFailure, waitBeforeRestart } from "./lifecycle.ts";
import { DependencyError, UsageError } from "./options/table.ts";
import { kubernetesVersion, orbitVersion } from "./version.ts";

/** Runs one subcommand with its arguments; resolves to the exit code, or undefined while a server goes on running. */
type Subcommand = (argv: readonly string[]) => Promise<number | undefined>;

interface SubcommandEntry {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<Subcommand>;
}

export const subcommands: readonly SubcommandEntry[] = [
  {
    name: "server",
    about:
      "a whole cluster on this machine: API server, controllers, scheduler, node agent",
    load: async () => (await import("./server.ts")).runServer,
  },
  {
    name: "apiserver",
    about: "the API server alone",
    load: async () => (await import("./apiserver.ts")).runApiServer,
  },
  {
    name: "controller-manager",
    about: "the controllers alone, against any conforming API server",
    load: async () =>
      (await import("./controller-manager.ts")).runControllerManager,
  },
  {
    name: "scheduler",
    about: "the scheduler alone, against any conforming API server",
    load: async () => (await import("./scheduler.ts")).runScheduler,
  },
  {
    name: "proxy",
    about: "the service proxy alone, against any conforming API server",
    load: async () => (await import("./proxy.ts")).runProxy,
  },
  {
    name: "agent",
    about: "the node agent alone (orbitlet)",
    load: async () => (await import("./agent.ts")).runAgent,
  },
  {
    name: "ctl",
    about: "talk to a cluster or to one node's agent (orbitctl)",
    load: async () => (await import("./ctl/ctl.ts")).runCtl,
  },
  {
    name: "token",
    about: "tokens by which new nodes join: create, list, delete",
    load: async () => (await import("./token.ts")).runToken,
  },
  {
    name: "image",
    about:
      "images in this machine's container runtime: load, list, pull, save, prune",
    load: async () => (await import("./image.ts")).runImage,
  },
  {
    name: "remove-pods",
    about:
      "end and remove all pods of a container runtime (the server must not run)",
    load: async () => (await import("./remove-pods.ts")).runRemovePods,
  },
  {
    name: "stop-pods",
    about:
      "end this node's pods within their grace; the next start of the server starts them again",
    load: async () => (await import("./stop-pods.ts")).runStopPods,
  },
  {
    name: "cleanup",
    about:
      "leave this machine as it was before the cluster: pods, links, routes, rules, settings, mounts",
    load: async () => (await import("./cleanup.ts")).runCleanup,
  },
  {
    name: "store",
    about: "back up, restore and move the cluster's state",
    load: async () => (await import("./store.ts")).runStore,
  },
  {
    name: "doctor",
    about:
      "look for what would keep a cluster from running well on this machine",
    load: async () => (await import("./doctor/doctor.ts")).runDoctor,
  },
];

/** Prints the failure as users should see it and returns the exit code. */
export function reportFailure(error: unknown): number {
  if (error instanceof UsageError || error instanceof DependencyError) {
    process.stderr.write(`error: ${error.message}\n`);
    return error instanceof UsageError ? 1 : 2;
  }
  process.stderr.write(
    `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  return unexpectedFailure;
}

export async function runProgram(
  argv: readonly string[],
): Promise<number | undefined> {
  let result: number | undefined = 0;
  const program = new Command("orbit")
    .description("A Kubernetes-compatible cluster in one program")
    .version(
      `orbit ${orbitVersion} (Kubernetes ${kubernetesVersion})`,
      "--version",
      "print the version",
    )
    .enablePositionalOptions()
    .showHelpAfterError("(see orbit --help)")
    .configureOutput({ outputError: (text, write) => write(text) })
    .exitOverride();
  for (const { name, about, load } of subcommands) {
    program
      .command(name)
      .description(about)
      .argument("[arguments...]")
      .allowUnknownOption()
      .passThroughOptions()
      .helpOption(false)
      .action(async (args: string[]) => {
        result = await (await load())(args);
      });
  }
  program
    .command("version")
    .description("print the version")
    .action(() => {
      process.stdout.write(
        `orbit ${orbitVersion} (Kubernetes ${kubernetesVersion})\n`,
      );
    });
  try {
    await program.parseAsync(argv as string[], { from: "user" });
    return result;
  } catch (error) {
    const { code, exitCode } = error as { code?: string; exitCode?: number };
    if (typeof code === "string" && code.startsWith("commander."))
      return exitCode === 0 ? 0 : 1;
    const failure = reportFailure(error);
    if (error instanceof DependencyError)
      await waitBeforeRestart(error.message);
    return failure;
  }
}

// orbitctl cp: files between this machine and a container, as a tar archive through exec; both sides need `tar`. What comes
// from a container is unpacked in a new directory beside its place and moved there whole, so that names and links in the
// archive lead nowhere else.
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { trimEnd } from "../../../api/patterns/trim.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { option } from "../../options/build-table.ts";
import { UsageError } from "../../options/table.ts";
import type { CtlCommand, CtlContext } from "../command.ts";
import { chooseContainer, podOf } from "../logs.ts";
import { runRemotely } from "./remote-command.ts";

interface Place {
  /** Undefined: on this machine. */
  readonly pod?: { readonly namespace?: string; readonly name: string };
  readonly path: string;
}

/** `[[NAMESPACE/]POD:]PATH` */
export function parsePlace(text: string): Place {
  const colon = text.indexOf(":");
  // "./a:b" is a file of this machine.
  if (colon < 0 || /^[./]/.test(text)) return { path: text };
  const [first = "", second, more] = text.slice(0, colon).split("/");
  const at = text.slice(colon + 1);
  if (more !== undefined || first === "" || second === "" || at === "")
    throw new UsageError(
      `filespec must match the canonical format: [[namespace/]pod:]file/path: ${text}`,
    );
  return {
    pod:
      second === undefined
        ? { name: first }
        : { namespace: first, name: second },
    path: at,
  };
}

/** The container's end of a copy. */
class RemoteFiles {
  constructor(
    private readonly context: CtlContext,
    private readonly pod: Pod,
    private readonly container: string,
  ) {}

  /** The command's exit code; it has to say itself what is wrong. */
  async run(
    command: readonly string[],
    { stdin, stdout }: { stdin?: Readable; stdout?: Writable },
    stderr: Writable = process.stderr,
  ): Promise<number> {
    const result = await runRemotely(this.context, this.pod, this.container, {
      verb: "exec",
      command,
      tty: false,
      stdout: stdout ?? new PassThrough().resume(),
      stderr,
      ...(stdin ? { stdin } : {}),
    });
    if ("message" in result) throw new Error(result.message);
    return result.code;
  }
}

const ended = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    child.once("error", (error) =>
      reject(new Error(`tar on this machine: ${error.message}`)),
    );
    child.once("exit", (code) => resolve(code ?? 1));
  });

async function upload(
  remote: RemoteFiles,
  source: string,
  target: string,
): Promise<void> {
  const isDirectory = (await fs.stat(source)).isDirectory();
  const quiet = new PassThrough().resume();
  const intoDirectory =
    (await remote.run(["test", "-d", target], {}, quiet)) === 0;
  const wanted = intoDirectory
    ? path.posix.join(target, path.basename(path.resolve(source)))
    : target;
  const place = await fs.mkdtemp(path.join(os.tmpdir(), "orbitctl-"));
  try {
    const name = path.posix.basename(wanted);
    // tar gets the name it has in the container by a link; of a directory its content alone is packed.
    await fs.symlink(path.resolve(source), path.join(place, name));
    const [into, words] = isDirectory
      ? [wanted, ["-C", path.resolve(source), "."]]
      : [path.posix.dirname(wanted), ["-h", "-C", place, "--", name]];
    if (isDirectory) await must(remote.run(["mkdir", "-p", into], {}), "mkdir");
    const tar = spawn("tar", ["-c", "-f", "-", ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [remoteCode, code] = await Promise.all([
      remote.run(["tar", "-xmf", "-", "-C", into], {
        // What is not read when a child process ends is dropped.
        stdin: tar.stdout.pipe(new PassThrough()),
      }),
      ended(tar),
    ]);
    if (remoteCode !== 0 || code !== 0)
      throw new Error(`tar ended with exit code ${remoteCode || code}`);
  } finally {
    await fs.rm(place, { recursive: true, force: true });
  }
}

async function must(run: Promise<number>, what: string): Promise<void> {
  const code = await run;
  if (code !== 0) throw new Error(`${what} ended with exit code ${code}`);
}

async function download(
  remote: RemoteFiles,
  source: string,
  target: string,
  preserve: boolean,
): Promise<void> {
  const name = path.posix.basename(source);
  const found = await fs.stat(target).catch(() => undefined);
  const wanted = path.resolve(
    found?.isDirectory() ? path.join(target, name) : target,
  );
  const place = await fs.mkdtemp(path.join(path.dirname(wanted), ".orbitctl-"));
  try {
    const tar = spawn(
      "tar",
      [
        ...["-x", "-f", "-", "--no-same-owner"],
        ...(preserve ? [] : ["--no-same-permissions", "--touch"]),
        ...["-C", place],
      ],
      { stdio: ["pipe", "ignore", "inherit"] },
    );
    const end = ended(tar);
    // What it still has to read when it fails.
    tar.stdin.on("error", () => undefined);
    const remoteCode = await remote.run(
      ["tar", "-cf", "-", "-C", path.posix.dirname(source), "--", name],
      { stdout: tar.stdin },
    );
    tar.stdin.end();
    const code = await end;
    if (remoteCode !== 0 || code !== 0)
      throw new Error(`tar ended with exit code ${remoteCode || code}`);
    await moveInto(path.join(place, name), wanted);
  } finally {
    await fs.rm(place, { recursive: true, force: true });
  }
}

/** What is there already stays, where the copy has nothing of its name. */
async function moveInto(made: string, wanted: string): Promise<void> {
  const there = await fs.lstat(wanted).catch(() => undefined);
  if (!there?.isDirectory() || !(await fs.lstat(made)).isDirectory())
    return fs.rename(made, wanted);
  for (const name of await fs.readdir(made))
    await moveInto(path.join(made, name), path.join(wanted, name));
}

export const copyCommand: CtlCommand = {
  usage:
    "cp (PATH [NAMESPACE/]POD:PATH | [NAMESPACE/]POD:PATH PATH) [-c CONTAINER]",
  about: "Copy files and directories to and from containers.",
  options: [
    option("container", "string", "", "Container.", { short: "c" }),
    option(
      "no-preserve",
      "bool",
      "false",
      "Files get this machine's permissions and the time of the copy.",
    ),
  ],
  run: async (context) => {
    const [from, to, ...more] = context.args.map(parsePlace);
    if (!from || !to || more.length > 0)
      throw new UsageError("source and destination are required");
    const pod = from.pod ?? to.pod;
    if (!pod)
      throw new UsageError(
        "one of src or dest must be a remote file specification",
      );
    if (from.pod && to.pod)
      throw new UsageError(
        "one of src or dest must be a local file specification",
      );
    const found = await podOf(context, pod.name, pod.namespace);
    const remote = new RemoteFiles(
      context,
      found,
      chooseContainer(context, found),
    );
    if (to.pod) await upload(remote, from.path, to.path);
    else
      await download(
        remote,
        trimEnd(from.path, "/") || "/",
        to.path,
        !context.values.flag("no-preserve"),
      );
  },
};

// `orbit image`: images in the container runtime of this machine. load and save need no registry; pull shows how far it is.
// Which runtime: --container-runtime-endpoint, else the one the server under --data-dir uses, else the machine's.
import * as fs from "node:fs";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { RuntimeError, type Runtime } from "../cri/runtime.ts";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions, type OptionValues } from "./options/parse.ts";
import {
  DependencyError,
  UsageError,
  type OptionTable,
} from "./options/table.ts";

const table: OptionTable = [
  group(
    "Options",
    option(
      "data-dir",
      "string",
      "/var/lib/orbit",
      "Data directory of the server whose runtime is meant.",
    ),
    option(
      "container-runtime-endpoint",
      "string",
      "",
      "Socket of the runtime.",
    ),
    option(
      "output",
      "string",
      "",
      "save: the file to write; - is standard output.",
      { short: "o" },
    ),
  ),
];

interface Verb {
  /** Behind the verb. */
  readonly operands: string;
  run(
    runtime: Runtime,
    operands: readonly string[],
    values: OptionValues,
  ): Promise<void>;
}

const verbs: Readonly<Record<string, Verb>> = {
  load: { operands: "FILE…", run: load },
  list: { operands: "", run: list },
  pull: { operands: "NAME…", run: pull },
  save: { operands: "NAME… -o FILE", run: save },
  prune: { operands: "", run: prune },
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function shownSize(bytes: number): string {
  return bytes >= 1e6
    ? `${(bytes / 1e6).toFixed(1)} MB`
    : `${(bytes / 1e3).toFixed(1)} kB`;
}

export async function runImage(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table) || argv.length === 0) {
    const shown = Object.entries(verbs).map(([name, { operands }]) =>
      `${name} ${operands}`.trimEnd(),
    );
    process.stdout.write(
      helpText(
        `orbit image ${shown.join(" | ")}`,
        "Bring images (OCI layout or docker archive, as a tar, tar.gz or tar.zst) into the container runtime, list those there, pull them from their registry, write them into an archive, or remove those that no container uses.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv, { operands: true });
  const [name = "", ...operands] = values.operands;
  const verb = Object.hasOwn(verbs, name) ? verbs[name]! : undefined;
  if (!verb)
    throw new UsageError(
      `unknown command "image ${name}"; there are: ${Object.keys(verbs).join(", ")}`,
    );
  if (operands.length > 0 !== (verb.operands !== ""))
    throw new UsageError(
      `image ${name} ${verb.operands === "" ? "takes no names" : "needs a name"}: orbit image ${name} ${verb.operands}`.trimEnd(),
    );
  const runtime = await openRuntimeOf(values);
  try {
    await verb.run(runtime, operands, values);
    return 0;
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    throw new DependencyError(error.message);
  } finally {
    await runtime.stop();
  }
}

async function openRuntimeOf(values: OptionValues): Promise<Runtime> {
  const { defaultEndpoint, readEndpoint, socketAnswers } =
    await import("./parts/agent/runtime-endpoint.ts");
  const endpoint =
    values.optionalText("container-runtime-endpoint") ??
    (await readEndpoint(values.text("data-dir"))) ??
    defaultEndpoint;
  if (!(await socketAnswers(endpoint)))
    throw new DependencyError(
      `no container runtime answers at ${endpoint}: is the server running? (--data-dir, --container-runtime-endpoint)`,
    );
  const [{ openRuntime }, { createLogger }] = await Promise.all([
    import("../cri/open-runtime.ts"),
    import("./logging.ts"),
  ]);
  const runtime = await openRuntime({
    endpoint,
    logger: createLogger({ format: "text", verbosity: -1 }),
    ensureSandboxImage: false,
  });
  await runtime.start();
  return runtime;
}

async function load(runtime: Runtime, files: readonly string[]): Promise<void> {
  for (const file of files)
    if (!fs.existsSync(file))
      throw new UsageError(`the file "${file}" does not exist`);
  for (const file of files)
    for (const name of await runtime.importImage(path.resolve(file)))
      say(`loaded ${name}`);
}

async function list(runtime: Runtime): Promise<void> {
  for (const { repoTags, id, sizeBytes } of await runtime.listImages())
    for (const name of repoTags.length > 0 ? repoTags : ["<none>"])
      say(
        `${name.padEnd(50)} ${id.replace(/^sha256:/, "").slice(0, 12)} ${shownSize(sizeBytes)}`,
      );
}

const progressEveryMs = 500;

/** Without credentials: those of pods are the agent's. */
async function pull(runtime: Runtime, names: readonly string[]): Promise<void> {
  const { normalizeImageName } = await import("../cri/images/image-names.ts");
  for (const name of names) {
    const image = imageName(name, normalizeImageName);
    let last = "";
    const timer = setInterval(() => {
      runtime.downloads().then(
        (downloads) => {
          const done = downloads.reduce(
            (sum, { doneBytes }) => sum + doneBytes,
            0,
          );
          const total = downloads.reduce(
            (sum, each) => sum + each.totalBytes,
            0,
          );
          const line = `pulling ${name}: ${shownSize(done)} of ${shownSize(total)} in ${downloads.length} parts`;
          if (downloads.length > 0 && line !== last) say((last = line));
        },
        () => undefined,
      );
    }, progressEveryMs);
    try {
      say(`pulled ${name} (${await runtime.pullImage(image)})`);
    } finally {
      clearInterval(timer);
    }
  }
}

function imageName(
  name: string,
  normalize: (reference: string) => string,
): string {
  try {
    return normalize(name);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** The file is there whole or not at all. */
async function save(
  runtime: Runtime,
  names: readonly string[],
  values: OptionValues,
): Promise<void> {
  const output = values.text("output");
  if (output === "")
    throw new UsageError("image save needs a file to write: -o FILE");
  const archive = await runtime.exportImages(names);
  if (output === "-") {
    await pipeline(archive, process.stdout, { end: false });
    return;
  }
  const partial = `${output}.partial`;
  try {
    await pipeline(archive, fs.createWriteStream(partial, { flags: "wx" }));
    fs.renameSync(partial, output);
  } catch (error) {
    // Another one's stays.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      fs.rmSync(partial, { force: true });
    throw error instanceof RuntimeError
      ? error
      : new UsageError(`can't write "${output}": ${(error as Error).message}`);
  }
  say(`saved ${names.join(", ")} to ${output}`);
}

/** What neither a container uses nor a pin keeps. */
async function prune(runtime: Runtime): Promise<void> {
  const [
    { ImageGarbage },
    { mountedImages },
    { createLogger },
    { systemClock },
  ] = await Promise.all([
    import("../eviction/image-garbage.ts"),
    import("../cri/images/mounted-images.ts"),
    import("./logging.ts"),
    import("../api/clock.ts"),
  ]);
  const garbage = new ImageGarbage({
    runtime: {
      listImages: () => runtime.listImages(),
      listContainers: () => runtime.listContainers(),
      imageFsInfo: () => runtime.imageFsInfo(),
      async removeImage(id) {
        const image = await runtime.imageStatus(id);
        await runtime.removeImage(id);
        say(`removed ${image?.repoTags[0] ?? id}`);
      },
    },
    mounted: () => mountedImages(runtime),
    clock: systemClock,
    logger: createLogger({ format: "text", verbosity: -1 }),
    highThresholdPercent: 100,
    lowThresholdPercent: 100,
    minimumAgeMs: 0,
    onFailure: (_reason, message) => say(message),
  });
  say(`freed ${shownSize(await garbage.collect(true))}`);
}

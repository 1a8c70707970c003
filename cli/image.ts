// `orbit image load FILE…` and `orbit image list`: images in the container runtime of this machine, without a registry.
// Which runtime: --container-runtime-endpoint, else the one the server under --data-dir uses, else the machine's.
import * as fs from "node:fs";
import * as path from "node:path";
import { group, option } from "./options/build-table.ts";
import { helpText, wantsHelp } from "./options/help.ts";
import { parseOptions } from "./options/parse.ts";
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
  ),
];

function shownSize(bytes: number): string {
  return bytes >= 1e6
    ? `${(bytes / 1e6).toFixed(1)} MB`
    : `${(bytes / 1e3).toFixed(1)} kB`;
}

export async function runImage(argv: readonly string[]): Promise<number> {
  if (wantsHelp(argv, table) || argv.length === 0) {
    process.stdout.write(
      helpText(
        "orbit image load FILE… | list",
        "Bring images (OCI layout or docker archive, as a tar) into the container runtime, or list those there.",
        table,
      ),
    );
    return 0;
  }
  const values = parseOptions(table, argv, { operands: true });
  const [verb, ...files] = values.operands;
  if (verb !== "load" && verb !== "list")
    throw new UsageError(
      `unknown command "image ${verb ?? ""}"; there are: load, list`,
    );
  if (verb === "load" && files.length === 0)
    throw new UsageError("image load needs a file: orbit image load FILE…");
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
  try {
    if (verb === "list") {
      const images = await runtime.listImages();
      for (const { repoTags, id, sizeBytes } of images)
        for (const name of repoTags.length > 0 ? repoTags : ["<none>"])
          process.stdout.write(
            `${name.padEnd(50)} ${id.replace(/^sha256:/, "").slice(0, 12)} ${shownSize(sizeBytes)}\n`,
          );
      return 0;
    }
    for (const file of files) {
      if (!fs.existsSync(file))
        throw new UsageError(`the file "${file}" does not exist`);
      for (const name of await runtime.importImage(path.resolve(file)))
        process.stdout.write(`loaded ${name}\n`);
    }
    return 0;
  } finally {
    await runtime.stop();
  }
}

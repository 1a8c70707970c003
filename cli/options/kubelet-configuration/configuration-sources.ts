// The agent's configuration from --config and the drop-ins of --config-dir: flags win over drop-ins, these over the file,
// that over the defaults.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import * as path from "node:path";
import {
  configurationFields,
  mergeFields,
  type ConfigurationFields,
} from "./configuration-fields.ts";
import { settingsOf, type ConfigurationFile } from "./configuration-file.ts";
import { completeFile } from "./file-defaults.ts";
import type { OptionValues } from "../parse.ts";
import { UsageError, type OptionTable } from "../table.ts";

/**
 * Undefined when neither option is set.
 * @throws UsageError naming the option, or file, line and field; all fields at once
 */
export async function readKubeletConfiguration(
  values: OptionValues,
  table: OptionTable,
): Promise<ConfigurationFile | undefined> {
  const file = values.optionalText("config");
  const directory = values.optionalText("config-dir");
  if (!file && !directory) return undefined;
  let fields: ConfigurationFields = new Map();
  if (file)
    fields = completeFile(
      await configurationFields(readOptionFile("config", file), file, table),
      path.dirname(path.resolve(file)),
    );
  for (const dropIn of directory ? dropIns(directory) : [])
    fields = mergeFields(
      fields,
      await configurationFields(
        readOptionFile("config-dir", dropIn),
        dropIn,
        table,
      ),
      table,
    );
  return settingsOf(fields, table);
}

/** As of a manifest; a device would have no end. */
const maxFileBytes = 10 << 20;

/** --config may be a pipe that something writes to; one among drop-ins would hold up everything until something does. */
function readOptionFile(option: "config" | "config-dir", file: string): string {
  const { O_RDONLY, O_NONBLOCK } = constants;
  const isDropIn = option === "config-dir";
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, isDropIn ? O_RDONLY | O_NONBLOCK : O_RDONLY);
    if (isDropIn && !fstatSync(descriptor).isFile())
      throw new Error(`${file} is not a regular file`);
    const buffer = Buffer.alloc(64 * 1024);
    const chunks: Buffer[] = [];
    let size = 0;
    for (;;) {
      const count = readSync(descriptor, buffer);
      if (count === 0) return Buffer.concat(chunks).toString("utf8");
      size += count;
      if (size > maxFileBytes)
        throw new Error(`${file} is more than ${maxFileBytes} bytes`);
      chunks.push(Buffer.from(buffer.subarray(0, count)));
    }
  } catch (error) {
    throw new UsageError(`--${option}: ${(error as Error).message}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Files named *.conf, at any depth, in the order the reference walks them: by name, each directory in its place. */
function dropIns(directory: string): readonly string[] {
  let entries;
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    throw new UsageError(`--config-dir: ${(error as Error).message}`);
  }
  return entries
    .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .flatMap((entry) => {
      const place = path.join(directory, entry.name);
      if (entry.isDirectory()) return dropIns(place);
      return path.extname(entry.name) === ".conf" ? [place] : [];
    });
}

// A CNI configuration list and the calls of its plug-ins (CNI specification, "Execution Protocol"), for a runtime that does
// not call them itself: read from the directory as the others read it, run one process a plug-in, in order to add and
// check, backwards to delete.
import { spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { bandwidthPluginName } from "./bandwidth.ts";
import { cniFileName, isConfiguration } from "./configuration.ts";
import { findPlugin } from "./plugin-files.ts";

interface PluginConfiguration {
  type: string;
  capabilities?: Record<string, boolean>;
  [key: string]: unknown;
}

export interface NetworkList {
  cniVersion: string;
  name: string;
  disableCheck?: boolean;
  plugins: PluginConfiguration[];
}

/** As plug-ins of version 0.3.0 and newer answer; older ones name `ip4` and `ip6`. */
export interface CniResult {
  cniVersion?: string;
  ips?: { address: string; gateway?: string }[];
  ip4?: { ip: string };
  ip6?: { ip: string };
  [key: string]: unknown;
}

export interface Attachment {
  containerId: string;
  /** Path of the network namespace; "" when it is gone, for deleting only. */
  namespace: string;
  interfaceName: string;
  /** CNI_ARGS. */
  args: Record<string, string>;
  /** Passed on to the plug-ins that ask for them by `capabilities`. */
  capabilities: Record<string, unknown>;
}

/** Slow plug-ins are put up with for so long. */
const pluginTimeoutMs = 120_000;
const maxOutputBytes = 1024 * 1024;

/**
 * The first configuration of the directory by name, with `ownCounts` false without the one that orbit writes; undefined when
 * there is none.
 * @throws Error that names the file, when it can't be used
 */
export async function readNetworkList(
  directory: string,
  ownCounts = true,
): Promise<NetworkList | undefined> {
  const names = (await fs.readdir(directory).catch((): string[] => []))
    .filter(
      (each) => isConfiguration(each) && (ownCounts || each !== cniFileName),
    )
    .sort();
  const name = names[0];
  if (name === undefined) return undefined;
  try {
    const text = await fs.readFile(join(directory, name), "utf8");
    return networkList(JSON.parse(text));
  } catch (error) {
    throw new Error(
      `the network configuration ${join(directory, name)}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

/** A configuration of one plug-in is a list of one. */
function networkList(value: unknown): NetworkList {
  const found = value as Partial<NetworkList> & Partial<PluginConfiguration>;
  const plugins =
    found.plugins ??
    (found.type === undefined ? [] : [found as PluginConfiguration]);
  if (typeof found.name !== "string" || found.name === "")
    throw new Error("it has no name");
  if (
    plugins.length === 0 ||
    plugins.some(({ type }) => !/^[\w.-]+$/.test(type ?? ""))
  )
    throw new Error("it names no plug-in");
  return {
    cniVersion: found.cniVersion ?? "0.2.0",
    name: found.name,
    ...(found.disableCheck === true ? { disableCheck: true } : {}),
    plugins,
  };
}

export class PluginChain {
  readonly #binaryDirectories: readonly string[];

  constructor(binaryDirectories: readonly string[]) {
    this.#binaryDirectories = binaryDirectories;
  }

  /** Rejects with the plug-in's own text; what the plug-ins before it made is left to delete(). */
  async add(list: NetworkList, attachment: Attachment): Promise<CniResult> {
    let result: CniResult = {};
    for (const [index, plugin] of neededPlugins(list, attachment).entries())
      result = (await this.#call("ADD", list, plugin, attachment, {
        ...(index === 0 ? {} : { prevResult: result }),
      })) as CniResult;
    return result;
  }

  async check(
    list: NetworkList,
    attachment: Attachment,
    result: CniResult,
  ): Promise<void> {
    // Plug-ins of older versions have no such call.
    if (list.disableCheck === true || /^0\.[0-3]\./.test(list.cniVersion))
      return;
    for (const plugin of neededPlugins(list, attachment))
      await this.#call("CHECK", list, plugin, attachment, {
        prevResult: result,
      });
  }

  async delete(
    list: NetworkList,
    attachment: Attachment,
    result: CniResult | undefined,
  ): Promise<void> {
    // Results are passed to DEL since version 0.4.0.
    const prevResult =
      result === undefined || /^0\.[0-3]\./.test(list.cniVersion)
        ? {}
        : { prevResult: result };
    for (const plugin of neededPlugins(list, attachment).reverse())
      await this.#call("DEL", list, plugin, attachment, prevResult);
  }

  async #call(
    command: "ADD" | "CHECK" | "DEL",
    list: NetworkList,
    plugin: PluginConfiguration,
    attachment: Attachment,
    previous: { prevResult?: CniResult },
  ): Promise<unknown> {
    const { capabilities: asked = {}, ...settings } = plugin;
    const runtimeConfig = Object.fromEntries(
      Object.entries(attachment.capabilities).filter(
        ([name]) => asked[name] === true,
      ),
    );
    const input = {
      ...settings,
      name: list.name,
      cniVersion: list.cniVersion,
      ...(Object.keys(runtimeConfig).length > 0 ? { runtimeConfig } : {}),
      ...previous,
    };
    try {
      const output = await runPlugin(
        await this.#find(plugin.type),
        {
          CNI_COMMAND: command,
          CNI_CONTAINERID: attachment.containerId,
          CNI_NETNS: attachment.namespace,
          CNI_IFNAME: attachment.interfaceName,
          CNI_ARGS: Object.entries(attachment.args)
            .map(([key, value]) => `${key}=${value}`)
            .join(";"),
          CNI_PATH: this.#binaryDirectories.join(":"),
        },
        JSON.stringify(input),
      );
      return command === "ADD" ? JSON.parse(output) : undefined;
    } catch (error) {
      throw new Error(
        `plugin type=${JSON.stringify(plugin.type)} failed (${command.toLowerCase()}): ${(error as Error).message}`,
        { cause: error },
      );
    }
  }

  async #find(type: string): Promise<string> {
    const path = await findPlugin(this.#binaryDirectories, type);
    if (path !== undefined) return path;
    throw new Error(
      `failed to find plugin ${JSON.stringify(type)} in path [${this.#binaryDirectories.join(" ")}]`,
    );
  }
}

/** Of a pod without limits the plug-in for limits changes nothing, and is no process. */
const neededPlugins = (
  { plugins }: NetworkList,
  { capabilities }: Attachment,
): PluginConfiguration[] =>
  plugins.filter(
    ({ type, capabilities: asked }) =>
      type !== bandwidthPluginName ||
      asked?.[bandwidthPluginName] !== true ||
      capabilities[bandwidthPluginName] !== undefined,
  );

/** Resolves to what the plug-in printed; rejects with the message of the error that it printed. */
function runPlugin(
  path: string,
  environment: Record<string, string>,
  input: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, [], {
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: pluginTimeoutMs,
      killSignal: "SIGKILL",
    });
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => {
        if (output[name].length < maxOutputBytes) output[name] += text;
      });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output.stdout);
      else reject(new Error(failureText(output, code, signal)));
    });
    // A plug-in that ends without reading its input says so by its exit code.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}

function failureText(
  { stdout, stderr }: { stdout: string; stderr: string },
  code: number | null,
  signal: string | null,
): string {
  try {
    const { msg, details } = JSON.parse(stdout) as {
      msg?: string;
      details?: string;
    };
    if (msg) return details ? `${msg}; ${details}` : msg;
  } catch {
    // It printed no error of its own.
  }
  const end = code === null ? `signal ${signal}` : `exit code ${code}`;
  return [end, stderr.trim() || stdout.trim()].filter(Boolean).join(": ");
}

/** Without prefix lengths; the first is the pod's. */
export function addressesOf(result: CniResult): string[] {
  const found = result.ips?.map(({ address }) => address) ?? [
    ...(result.ip4 ? [result.ip4.ip] : []),
    ...(result.ip6 ? [result.ip6.ip] : []),
  ];
  return found.map((address) => address.split("/")[0]!);
}

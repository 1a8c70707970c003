// The pod network of sandboxes whose runtime leaves it to the agent: attached, checked, detached, and remembered in a
// directory, one file a sandbox, written before the first plug-in is called. So a process that finds the file, after a crash or in
// another process, can undo all of it with the configuration and the result it was made with, also when the network
// configuration has changed since or the namespace is gone.
// Invariants: a sandbox is attached when its file holds a result; detaching is idempotent.
import * as fs from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../directories.ts";
import { usualPluginDirectories } from "./configuration.ts";
import {
  addressesOf,
  PluginChain,
  readNetworkList,
  type Attachment,
  type CniResult,
  type NetworkList,
} from "./plugin-chain.ts";

interface AttachmentFile {
  list: NetworkList;
  attachment: Attachment;
  /** Absent while the plug-ins are at work. */
  result?: CniResult;
}

interface AttachmentsOptions {
  /**
   * Where the network configuration is looked for, e.g. /etc/cni/net.d: the first that has one counts. A configuration
   * that orbit wrote counts in the last of them only: elsewhere it is another cluster's.
   */
  configurationDirectories: readonly string[];
  /** Where the plug-ins are looked for. */
  binaryDirectories?: readonly string[];
  /** Of the files, one a sandbox. */
  stateDirectory: string;
}

const interfaceName = "eth0";
const ending = ".json";

export class Attachments {
  readonly #options: AttachmentsOptions;
  readonly #chain: PluginChain;
  /** What is attached, as read from the files or written to them. */
  readonly #known = new Map<string, string[]>();

  constructor(options: AttachmentsOptions) {
    this.#options = options;
    this.#chain = new PluginChain(
      options.binaryDirectories ?? usualPluginDirectories,
    );
  }

  get stateDirectory(): string {
    return this.#options.stateDirectory;
  }

  /** The configuration that the next sandbox gets. Rejects when there is one that can't be used. */
  async network(): Promise<NetworkList | undefined> {
    const [own] = this.#options.configurationDirectories.slice(-1);
    for (const directory of this.#options.configurationDirectories) {
      const list = await readNetworkList(directory, directory === own);
      if (list) return list;
    }
    return undefined;
  }

  /** Resolves to the addresses; when it rejects nothing is left. */
  async attach(
    sandbox: Omit<Attachment, "interfaceName">,
  ): Promise<readonly string[]> {
    const list = await this.network();
    if (list === undefined) throw new Error("cni plugin not initialized");
    const attachment = { ...sandbox, interfaceName };
    await this.#write({ list, attachment });
    try {
      const result = await this.#chain.add(list, attachment);
      await this.#write({ list, attachment, result });
      const addresses = addressesOf(result);
      this.#known.set(sandbox.containerId, addresses);
      return addresses;
    } catch (error) {
      await this.detach(
        sandbox.containerId,
        this.stateDirectory,
        sandbox.namespace,
      ).catch(() => undefined);
      throw error;
    }
  }

  /** Rejects when the network of an attached sandbox is not as it was made. */
  async check(containerId: string): Promise<void> {
    const found = await readAttachment(this.stateDirectory, containerId);
    if (found?.result)
      await this.#chain.check(found.list, found.attachment, found.result);
  }

  /** Its addresses; undefined when it is not attached. */
  async addresses(
    containerId: string,
    directory = this.stateDirectory,
  ): Promise<readonly string[] | undefined> {
    const known = this.#known.get(containerId);
    if (known) return known;
    const found = await readAttachment(directory, containerId);
    if (!found?.result) return undefined;
    const addresses = addressesOf(found.result);
    this.#known.set(containerId, addresses);
    return addresses;
  }

  /** `namespace` "": it is gone, and only what lies outside of it is released. */
  async detach(
    containerId: string,
    directory: string,
    namespace: string,
  ): Promise<void> {
    this.#known.delete(containerId);
    const found = await readAttachment(directory, containerId);
    if (found)
      await this.#chain.delete(
        found.list,
        { ...found.attachment, namespace },
        found.result,
      );
    await fs.rm(join(directory, `${containerId}${ending}`), { force: true });
  }

  /** The sandboxes that have a file. */
  async ids(): Promise<string[]> {
    const names = await fs
      .readdir(this.stateDirectory)
      .catch((): string[] => []);
    return names
      .filter((name) => name.endsWith(ending))
      .map((name) => name.slice(0, -ending.length));
  }

  async #write(content: AttachmentFile): Promise<void> {
    const directory = this.stateDirectory;
    await makeDirectory(directory, 0o700);
    const path = join(directory, `${content.attachment.containerId}${ending}`);
    await fs.writeFile(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
    await fs.rename(`${path}.new`, path);
  }
}

async function readAttachment(
  directory: string,
  containerId: string,
): Promise<AttachmentFile | undefined> {
  try {
    const text = await fs.readFile(
      join(directory, `${containerId}${ending}`),
      "utf8",
    );
    return JSON.parse(text) as AttachmentFile;
  } catch (error) {
    // Not there, or cut in half by a power loss, which ended the sandbox and its namespace too.
    if (
      (error as NodeJS.ErrnoException).code === "ENOENT" ||
      error instanceof SyntaxError
    )
      return undefined;
    throw error;
  }
}

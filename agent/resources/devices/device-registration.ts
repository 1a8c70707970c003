// Where device plug-ins register: ROOT/device-plugins/kubelet.sock, or a socket in the plug-ins' registry. The directory
// is the agent's: at its start all sockets in it are removed, by which plug-ins notice that they are to register again.
import { lstat, readdir, rm } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { makeDirectory } from "../../../cri/directories.ts";
import { isExtendedResource } from "../../../api/objects/resource-names.ts";
import { loadGrpc } from "../../../grpc/channel.ts";
import { GrpcServer } from "../../../grpc/server.ts";
import type {
  PluginHandler,
  RegisteredPlugin,
} from "../../plugin-registration/plugin-registration.ts";
import {
  devicePluginCodec,
  registerMethod,
  supportedVersion,
  type RegisterRequest,
} from "./device-plugin-protocol.ts";

/** Kept when the directory is cleaned. */
export const checkpointName = "kubelet_internal_checkpoint";

interface DeviceRegistrationOptions {
  /** ROOT/device-plugins */
  readonly directory: string;
  /** Rejects with what the plug-in is answered. */
  readonly connect: (resource: string, socketPath: string) => Promise<void>;
  /** The plug-in that serves at the socket is gone. */
  readonly disconnect: (resource: string, socketPath: string) => void;
}

export class DeviceRegistration implements PluginHandler {
  readonly #options: DeviceRegistrationOptions;
  #server: GrpcServer | undefined;

  constructor(options: DeviceRegistrationOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { directory } = this.#options;
    await makeDirectory(directory, 0o750);
    await removeSockets(directory);
    this.#server = new GrpcServer(await loadGrpc(), {
      codec: devicePluginCodec,
      handlers: [
        {
          method: registerMethod,
          unary: (request: RegisterRequest) => this.#register(request),
        },
      ],
    });
    await this.#server.listen(join(directory, "kubelet.sock"));
  }

  async stop(): Promise<void> {
    await this.#server?.close();
  }

  validate({ name, versions }: RegisteredPlugin): void {
    if (!versions.includes(supportedVersion))
      throw new Error(
        `manager version, ${supportedVersion}, is not among plugin supported versions [${versions.join(" ")}]`,
      );
    if (!isExtendedResource(name))
      throw new Error(
        `invalid name of device plugin socket: ${invalidName(name)}`,
      );
  }

  async register({ name, endpoint }: RegisteredPlugin): Promise<void> {
    await this.#options.connect(name, endpoint);
  }

  deregister({ name, endpoint }: RegisteredPlugin): void {
    this.#options.disconnect(name, endpoint);
  }

  async #register(request: RegisterRequest): Promise<object> {
    const { version, endpoint, resource_name: resource } = request;
    if (version !== supportedVersion)
      throw new Error(
        `requested API version ${JSON.stringify(version.slice(0, 64))} is not supported by kubelet. Supported version is ["${supportedVersion}"]`,
      );
    if (!isExtendedResource(resource)) throw new Error(invalidName(resource));
    const { directory, connect } = this.#options;
    const socketPath = resolve(directory, endpoint.replace(/^\/+/, ""));
    if (!socketPath.startsWith(directory + sep) || endpoint.length > 256)
      throw new Error(
        `the endpoint ${JSON.stringify(endpoint.slice(0, 256))} is not in ${directory}`,
      );
    await connect(resource, socketPath);
    return {};
  }
}

function invalidName(name: string): string {
  return `the ResourceName ${JSON.stringify(name.slice(0, 256))} is invalid`;
}

/** Everything but directories and the checkpoint, as the reference. */
async function removeSockets(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(checkpointName)) continue;
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    if (found && !found.isDirectory()) await rm(path, { force: true });
  }
}

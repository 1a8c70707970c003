// A device plug-in of our own over real gRPC: it serves at a socket in ROOT/device-plugins and registers at kubelet.sock,
// as vendors' do. What it answers can be replaced, to make it lie or hang.
import { join } from "node:path";
import {
  devicePluginCodec,
  devicePluginMethods,
  registerMethod,
  type ContainerAllocation,
  type DevicePluginOptions,
  type PluginDevice,
} from "../../../agent/resources/devices/device-plugin-protocol.ts";
import { GrpcChannel, loadGrpc } from "../../../grpc/channel.ts";
import { GrpcServer } from "../../../grpc/server.ts";

export interface DevicePluginOverrides {
  options?: Partial<DevicePluginOptions>;
  allocate?: (
    ids: readonly string[],
  ) => Partial<ContainerAllocation> | Promise<Partial<ContainerAllocation>>;
  preferred?: (
    available: readonly string[],
    mustInclude: readonly string[],
    size: number,
  ) => readonly string[];
  preStart?: (ids: readonly string[]) => void;
}

export interface TestDevicePlugin {
  /** "Allocate a,b", "PreStartContainer a" … in their order. */
  readonly calls: readonly string[];
  /** Sends the list to the agent, now and to each that watches later. */
  list(devices: readonly PluginDevice[]): void;
  register(over?: {
    version?: string;
    resource?: string;
    endpoint?: string;
  }): Promise<void>;
  /** Dies. */
  close(): Promise<void>;
}

export const device = (
  ID: string,
  health = "Healthy",
  ...nodes: readonly number[]
): PluginDevice => ({
  ID,
  health,
  ...(nodes.length > 0
    ? { topology: { nodes: nodes.map((node) => ({ ID: node })) } }
    : {}),
});

/** @param directory ROOT/device-plugins, which the agent has made. */
export async function startDevicePlugin(
  directory: string,
  resource: string,
  devices: readonly PluginDevice[],
  over: DevicePluginOverrides = {},
): Promise<TestDevicePlugin> {
  const endpoint = `${resource.replace("/", "-")}.sock`;
  const calls: string[] = [];
  let listed = devices;
  const watchers = new Set<(message: object) => void>();
  const library = await loadGrpc();
  const server = new GrpcServer(library, {
    codec: devicePluginCodec,
    handlers: [
      {
        method: devicePluginMethods.options,
        unary: () => over.options ?? {},
      },
      {
        method: devicePluginMethods.listAndWatch,
        stream: async (_request: object, send, signal) => {
          watchers.add(send);
          send({ devices: listed });
          await new Promise((resolve) =>
            signal.addEventListener("abort", resolve),
          );
          watchers.delete(send);
        },
      },
      {
        method: devicePluginMethods.preferredAllocation,
        unary: ({
          container_requests: [request],
        }: {
          container_requests: {
            available_deviceIDs: string[];
            must_include_deviceIDs: string[];
            allocation_size: number;
          }[];
        }) => ({
          container_responses: [
            {
              deviceIDs: over.preferred?.(
                request!.available_deviceIDs,
                request!.must_include_deviceIDs,
                request!.allocation_size,
              ),
            },
          ],
        }),
      },
      {
        method: devicePluginMethods.allocate,
        unary: async ({
          container_requests: [request],
        }: {
          container_requests: { devices_ids: string[] }[];
        }) => {
          const ids = request!.devices_ids;
          calls.push(`Allocate ${[...ids].sort().join()}`);
          return { container_responses: [(await over.allocate?.(ids)) ?? {}] };
        },
      },
      {
        method: devicePluginMethods.preStartContainer,
        unary: ({ devices_ids: ids }: { devices_ids: string[] }) => {
          calls.push(`PreStartContainer ${ids.join()}`);
          over.preStart?.(ids);
          return {};
        },
      },
    ],
  });
  await server.listen(join(directory, endpoint));
  return {
    calls,
    list(next) {
      listed = next;
      for (const send of watchers) send({ devices: next });
    },
    async register({ version = "v1beta1", ...others } = {}) {
      const channel = new GrpcChannel(library, {
        target: `unix://${join(directory, "kubelet.sock")}`,
        codec: devicePluginCodec,
        settings: {},
      });
      try {
        await channel.unary(
          registerMethod,
          {
            version,
            endpoint: others.endpoint ?? endpoint,
            resource_name: others.resource ?? resource,
          },
          { timeoutMs: 60_000 },
        );
      } finally {
        channel.close();
      }
    },
    close: () => server.close(),
  };
}

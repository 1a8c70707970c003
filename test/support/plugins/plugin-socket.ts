// A plug-in's registration socket (pluginregistration v1) over real gRPC, as CSI and DRA drivers make one. It records
// what the agent notifies it of, and can answer late or nonsense.
import {
  registrationMessages,
  registrationMethods,
  type PluginInfo,
} from "../../../agent/plugin-registration/registration-protocol.ts";
import { loadGrpc } from "../../../grpc/channel.ts";
import { GrpcServer } from "../../../grpc/server.ts";
import { createWireCodec } from "../../../grpc/wire.ts";

export interface PluginSocket {
  /** Notifications in their order; empty text: it was taken. */
  readonly notified: readonly string[];
  /** How often the agent asked for GetInfo. */
  readonly asked: () => number;
  close(): Promise<void>;
}

/** @param info what GetInfo answers; a function may be slow or throw. */
export async function openPluginSocket(
  path: string,
  info: Partial<PluginInfo> | (() => Promise<Partial<PluginInfo>>),
): Promise<PluginSocket> {
  const notified: string[] = [];
  let asked = 0;
  const server = new GrpcServer(await loadGrpc(), {
    codec: createWireCodec(registrationMessages),
    handlers: [
      {
        method: registrationMethods.getInfo,
        unary: () => {
          asked++;
          return typeof info === "function" ? info() : info;
        },
      },
      {
        method: registrationMethods.notify,
        unary: ({ error }: { error: string }) => {
          notified.push(error);
          return {};
        },
      },
    ],
  });
  await server.listen(path);
  return { notified, asked: () => asked, close: () => server.close() };
}

// How the end of a unary call is reported to its caller, by a peer that speaks HTTP/2 and ends calls as it likes.
import { once } from "node:events";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import {
  GrpcChannel,
  grpcCode,
  grpcStatusText,
  loadGrpc,
} from "../../../grpc/channel.ts";
import { createWireCodec } from "../../../grpc/wire.ts";

const method = {
  path: "/test.Service/Call",
  request: "Empty",
  response: "Empty",
};
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function errorOf(
  answer: (stream: http2.ServerHttp2Stream) => void,
): Promise<unknown> {
  const server = http2.createServer();
  server.on("stream", answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const channel = new GrpcChannel(await loadGrpc(), {
    target: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    codec: createWireCodec({ Empty: [] }),
    settings: { "grpc.use_local_subchannel_pool": 1 },
  });
  ends.push(() => {
    channel.close();
    server.close();
  });
  return channel.unary(method, {}).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test("a call whose connection broke is unavailable, not cancelled: nobody here cancels", async () => {
  const error = await errorOf((stream) =>
    stream.close(http2.constants.NGHTTP2_CANCEL),
  );
  expect(grpcCode(error)).toBe(14);
  expect(grpcStatusText(error)).toBe(
    "rpc error: code = Unavailable desc = Connection dropped",
  );
  expect((error as Error).message).toBe("14 UNAVAILABLE: Connection dropped");
});

test("a call that the peer itself answers as cancelled stays so", async () => {
  const error = await errorOf((stream) =>
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": "1",
        "grpc-message": "context canceled",
      },
      { endStream: true },
    ),
  );
  expect(grpcStatusText(error)).toBe(
    "rpc error: code = Canceled desc = context canceled",
  );
});

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

async function channelTo(
  answer: (stream: http2.ServerHttp2Stream) => void,
): Promise<GrpcChannel> {
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
  return channel;
}

const errorOf = async (
  answer: (stream: http2.ServerHttp2Stream) => void,
): Promise<unknown> =>
  (await channelTo(answer)).unary(method, {}).then(
    () => undefined,
    (error: unknown) => error,
  );

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

test("an aborted channel fails the calls under way, a closed one lets them end", async () => {
  const asked: http2.ServerHttp2Stream[] = [];
  let arrived: () => void = () => undefined;
  const listen = (stream: http2.ServerHttp2Stream): void => {
    asked.push(stream);
    arrived();
  };
  const aborted = await channelTo(listen);
  const first = aborted.unary(method, {});
  await new Promise<void>((resolve) => (arrived = resolve));
  aborted.abort();
  await expect(first).rejects.toThrow("1 CANCELLED: Cancelled on client");

  const closed = await channelTo(listen);
  const second = closed.unary(method, {});
  await new Promise<void>((resolve) => (arrived = resolve));
  closed.close();
  const stream = asked.at(-1)!;
  stream.respond(
    { ":status": 200, "content-type": "application/grpc" },
    { waitForTrailers: true },
  );
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  // An empty message: not compressed, of no bytes.
  stream.end(Buffer.alloc(5));
  await expect(second).resolves.toEqual({});
});

import {
  offeredProtocols,
  subprotocolToken,
} from "../../../../apiserver-lite/authentication/bearer-subprotocol.ts";

const carrier = (text: string): string =>
  `base64url.bearer.authorization.k8s.io.${text}`;
const token = carrier(Buffer.from("s3cret?>").toString("base64url"));
const handshake = { connection: "Upgrade", upgrade: "websocket" };
const given = (protocols: string, more: object = handshake) => ({
  ...more,
  "sec-websocket-protocol": protocols,
});

it.each([
  `${token}, v4.channel.k8s.io`,
  `v4.channel.k8s.io,${token}`,
  `${token}, v4.channel.k8s.io, ${carrier("bm9ib2R5")}`,
])("reads the first token of %s", (protocols) => {
  expect(subprotocolToken(given(protocols))).toBe("s3cret?>");
  expect(offeredProtocols(given(protocols))).toEqual(["v4.channel.k8s.io"]);
});

it("finds none where none is offered, and none beyond a length", () => {
  expect(subprotocolToken({})).toBeUndefined();
  expect(subprotocolToken(given("v4.channel.k8s.io"))).toBeUndefined();
  expect(
    subprotocolToken(given(`${token}, ${"a".repeat(40_000)}`)),
  ).toBeUndefined();
});

it.each<[string, object]>([
  ["no upgrade", {}],
  ["another protocol", { connection: "Upgrade", upgrade: "SPDY/3.1" }],
  ["an offer that is none", { connection: "close", upgrade: "websocket" }],
])("does not count with %s", (_, headers) => {
  expect(subprotocolToken(given(`${token}, x`, headers))).toBeUndefined();
});

it.each([
  ["alone", token],
  ["twice and alone", `${token}, ${token}`],
  ["empty", `${carrier("")}, x`],
  ["padded", `${token}=, x`],
  ["of another alphabet", `${carrier("c+/n")}, x`],
  ["no base64", `${carrier("@@@@")}, x`],
  ["with bits that mean nothing", `${carrier("YR")}, x`],
  ["no UTF-8", `${carrier(Buffer.from([0xff]).toString("base64url"))}, x`],
])("a token that is %s is refused", (_, protocols) => {
  expect(() => subprotocolToken(given(protocols))).toThrow(
    expect.objectContaining({ code: 401 }),
  );
});

// Objects that go to the API server of this process and come from it without being encoded.
import { outcome, useTransportPair } from "../../../support/transports/pair.ts";
import {
  configMaps,
  get,
  map,
  post,
} from "../../../support/transports/requests.ts";
import type { Json } from "../support.ts";

const pair = useTransportPair();

test("what is answered in process is frozen, and what was sent is not kept", async () => {
  const body = map("kept", { a: "1" }) as { data: Record<string, string> };
  const { transport } = pair.inProcess;
  const made: Json = await transport.request(post(configMaps, body));
  expect(Object.isFrozen(made.data)).toBe(true);
  body.data["a"] = "2";
  const read: Json = await transport.request(get(configMaps, "kept"));
  expect(read.data).toEqual({ a: "1" });
  expect(Object.isFrozen(body.data)).toBe(false);
});

test("an object that holds itself is refused", async () => {
  const body: Record<string, unknown> = { metadata: { name: "x" } };
  body["data"] = body;
  const refused = await outcome(() =>
    pair.inProcess.transport.request(post(configMaps, body)),
  );
  expect(refused.code).toBe(400);
});

// Authorities are published one after the other, the newest wins, and what fails is tried again.
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import { AuthenticationPublisher } from "../../../cli/parts/serving/authentication-publisher.ts";
import type { ApiRequest, Transport } from "../../../client/transport.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

test("the newest is written, after a failure, too", async () => {
  const clock = new FakeClock();
  const written: unknown[] = [];
  let conflict = true;
  const transport = {
    async request({ verb, body }: ApiRequest) {
      await Promise.resolve();
      if (verb === "get")
        return { metadata: { name: "x" }, data: { "client-ca-file": "old" } };
      if (conflict) throw new ApiError({ code: 409, reason: "Conflict" });
      written.push((body as { data: object }).data);
      return {};
    },
  } as unknown as Transport;
  const publisher = new AuthenticationPublisher({
    ...{ transport, clock, logger: pino({ level: "silent" }) },
  });
  publisher.publish({ clientCa: "one" });
  publisher.publish({ clientCa: "two" });
  await settle();
  expect(written).toEqual([]);
  conflict = false;
  await clock.advanceAsync(1000);
  expect(written).toEqual([{ "client-ca-file": "two" }]);
  await clock.advanceAsync(600_000);
  expect(written).toHaveLength(1);
  publisher.publish({ clientCa: "three" });
  publisher.publish({ clientCa: "four" });
  await settle();
  expect(written.at(-1)).toEqual({ "client-ca-file": "four" });
  publisher.stop();
  expect(clock.pending).toBe(0);
});

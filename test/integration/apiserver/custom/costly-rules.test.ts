// An object whose rules spend all they may: other requests are answered meanwhile, and the object is refused as it would
// have been at once.
import {
  crd,
  cronTab,
  cronTabs,
  definitions,
} from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type TestServer } from "../support.ts";

const rule = "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))";
const list = {
  type: "array",
  maxItems: 60,
  items: { type: "integer" },
};
const l = Array.from({ length: 60 }, (_, index) => index);

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  const spec = {
    type: "object",
    properties: { l: list },
    "x-kubernetes-validations": [{ rule }],
  };
  const schema = { type: "object", properties: { spec } };
  const made = await server.call("POST", definitions, crd({ schema }));
  expect(made.status).toBe(201);
  await eventually(
    async () => (await server.call("GET", cronTabs)).status === 200,
  );
});
afterAll(() => server.stop());

/** How many reads are answered, one after the other, before a write is. */
async function readsDuring(
  write: ReturnType<TestServer["call"]>,
): Promise<number> {
  let reads = 0;
  let done = false;
  const ended = write.then(() => (done = true));
  for (;;) {
    const { status } = await server.call("GET", "/api/v1/namespaces/default");
    expect(status).toBeLessThan(500);
    if (done) break;
    reads++;
  }
  await ended;
  return reads;
}

test.each(["POST", "PATCH"])("%s lets others have the loop", async (verb) => {
  const name = verb.toLowerCase();
  let target = cronTabs;
  const object = cronTab(name, { spec: { l } });
  if (verb === "PATCH") {
    const small = cronTab(name, { spec: { l: [1] } });
    expect((await server.call("POST", cronTabs, small)).status).toBe(201);
    target = `${cronTabs}/${name}`;
  }
  const write = server.call(verb, target, object, {
    "content-type":
      verb === "PATCH" ? "application/merge-patch+json" : "application/json",
  });
  const reads = await readsDuring(write);
  // The rule pauses some 60 times, a read takes a few turns of the loop.
  expect(reads).toBeGreaterThan(3);
  const { status, body } = await write;
  expect(status).toBe(422);
  expect(body.message).toContain(
    `'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
  );
});

// A create that admission holds while its namespace ends: nothing is stored where nobody would ever delete it.
import type { AdmissionPlugin } from "../../../apiserver-lite/admission/plugin.ts";
import { namespaceLifecycle } from "../../../apiserver-lite/admission/plugins/namespace-lifecycle.ts";
import { configMap, startTestServer, type TestServer } from "./support.ts";

const place = "/api/v1/namespaces/a";
let server: TestServer;
let reached: Promise<void>;
let open: () => void;

beforeEach(async () => {
  let reach = (): void => undefined;
  reached = new Promise((resolve) => (reach = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  // As a webhook that takes its time.
  const slow: AdmissionPlugin = {
    name: "Slow",
    validate({ name }) {
      if (name !== "late") return undefined;
      reach();
      return opened;
    },
  };
  server = await startTestServer({
    parts: () => ({ admission: [namespaceLifecycle, slow] }),
  });
  await server.call("POST", "/api/v1/namespaces", {
    metadata: { name: "a" },
  });
});
afterEach(() => server.stop());

/** Creates an object, and ends the namespace as far as `end` says while admission holds the object. */
async function createLate(end: () => Promise<void>) {
  const creating = server.call("POST", `${place}/configmaps`, {
    ...configMap("late"),
    metadata: { name: "late" },
  });
  await reached;
  await end();
  open();
  const { status, body } = await creating;
  const { body: left } = await server.call("GET", "/api/v1/configmaps");
  return { status, message: body.message, left: left.items.length };
}

const terminate = async (): Promise<void> => {
  const { status } = await server.call("DELETE", place);
  expect(status).toBe(200);
};

test("a namespace that is going away takes nothing any more", async () => {
  expect(await createLate(terminate)).toEqual({
    status: 403,
    message:
      'configmaps "late" is forbidden: unable to create new content in namespace a because it is being terminated',
    left: 0,
  });
});

test("a namespace that is gone takes nothing any more", async () => {
  const end = async (): Promise<void> => {
    await terminate();
    const { body } = await server.call("GET", place);
    const { status } = await server.call("PUT", `${place}/finalize`, {
      ...body,
      spec: { finalizers: [] },
    });
    expect(status).toBe(200);
    expect((await server.call("GET", place)).status).toBe(404);
  };
  expect(await createLate(end)).toEqual({
    status: 404,
    message: 'namespaces "a" not found',
    left: 0,
  });
});

test("a namespace that stays takes what was held", async () => {
  const { status, left } = await createLate(() => Promise.resolve());
  expect([status, left]).toEqual([201, 1]);
});

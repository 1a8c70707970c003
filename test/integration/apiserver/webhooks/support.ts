// A server that asks webhooks and a webhook server, for the tests of one file; configurations, objects and answers are
// taken away after each test.
import {
  configuration,
  mutating,
  startWebhookServer,
  validating,
  withWebhooks,
  type WebhookServer,
} from "../../../support/webhooks.ts";
import { configMaps, startTestServer, type TestServer } from "../support.ts";

interface WebhookSetup {
  readonly hooks: WebhookServer;
  readonly server: TestServer;
  readonly metrics: ReturnType<typeof withWebhooks>["metrics"];
  /** By path of the webhook server; rejects when the configuration is refused. */
  configure(
    kind: "Mutating" | "Validating",
    webhooks: Record<string, object>,
    name?: string,
  ): Promise<void>;
}

/** To be called once, outside of tests: what it resolves to is there in every test. */
export function useWebhooks(
  parts: Parameters<typeof withWebhooks>[0] = {},
): WebhookSetup {
  const made: { setup?: Omit<WebhookSetup, "configure"> } = {};
  beforeAll(async () => {
    const hooks = await startWebhookServer();
    const options = withWebhooks(parts);
    const server = await startTestServer(options);
    made.setup = { hooks, server, metrics: options.metrics };
  });
  afterAll(async () => {
    await made.setup!.server.stop();
    await made.setup!.hooks.close();
  });
  afterEach(async () => {
    const { hooks, server } = made.setup!;
    for (const path of [mutating, validating, configMaps])
      await server.call("DELETE", path);
    for (const path of Object.keys(hooks.on)) delete hooks.on[path];
    hooks.seen.length = 0;
  });
  return {
    get hooks() {
      return made.setup!.hooks;
    },
    get server() {
      return made.setup!.server;
    },
    get metrics() {
      return made.setup!.metrics;
    },
    async configure(kind, webhooks, name = "test") {
      const { hooks, server } = made.setup!;
      const { status } = await server.call(
        "POST",
        kind === "Mutating" ? mutating : validating,
        configuration(kind, name, hooks, webhooks),
      );
      expect(status).toBe(201);
    },
  };
}

// Tokens in Secrets: which are filled, which are deleted with their accounts, and which unused ones are marked and deleted.
import type { ConfigMap, Pod, Secret } from "../../../api/types/core-v1.ts";
import {
  configMaps,
  pods,
  secrets,
  serviceAccounts,
} from "../../../client/resources.ts";
import { createClient } from "../../../client/create-client.ts";
import { createControllerManager } from "../../../controllers/manager.ts";
import type { ControllerOptions } from "../../../controllers/options.ts";
import { silent, testPod } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryApi } from "../../support/memory-api.ts";

const dayMs = 24 * 3_600_000;
const tokenType = "kubernetes.io/service-account-token";
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function start(options: Partial<ControllerOptions>) {
  const clock = new FakeClock(Date.UTC(2025, 5, 1, 12));
  const api = new MemoryApi(clock);
  const client = createClient(api, { clock, logger: silent });
  const manager = createControllerManager({
    client,
    clock,
    logger: silent,
    options,
  });
  stops.push(async () => {
    await manager.stop();
    await client.close();
  });
  const settle = async (ms = 0): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 60; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(0);
    }
  };
  const secret = (name: string): Secret | undefined =>
    api.all<Secret>(secrets).find(({ metadata }) => metadata.name === name);
  return { clock, api, client, manager, settle, secret };
}

const secretFor = (
  name: string,
  account: string,
  more: Partial<Secret["metadata"]> = {},
): Secret => ({
  metadata: {
    name,
    namespace: "n",
    annotations: { "kubernetes.io/service-account.name": account },
    ...more,
  },
  type: tokenType,
});
const account = (name: string, ...named: string[]) => ({
  metadata: { name, namespace: "n" },
  secrets: named.map((secret) => ({ name: secret })),
});
const text = (secret: Secret | undefined, key: string): string =>
  Buffer.from(secret?.data?.[key] ?? "", "base64").toString();

describe("serviceaccount-token", () => {
  const signer = { sign: (claims: object) => JSON.stringify(claims) };
  const begin = async (more: Partial<ControllerOptions> = {}) => {
    const started = start({
      controllers: ["serviceaccount-token"],
      serviceAccountTokenSigner: signer,
      rootCa: "PEM",
      ...more,
    });
    await started.manager.start();
    return started;
  };

  test("a Secret gets token, authority, namespace and the account's uid", async () => {
    const { client, settle, secret } = await begin();
    const made = await client.resource(serviceAccounts).create(account("sa"));
    await client.resource(secrets).create(secretFor("s", "sa"));
    await client
      .resource(secrets)
      .create({ ...secretFor("other", "sa"), type: "Opaque" });
    await settle();
    const filled = secret("s");
    expect(JSON.parse(text(filled, "token"))).toEqual({
      iss: "kubernetes/serviceaccount",
      sub: "system:serviceaccount:n:sa",
      "kubernetes.io/serviceaccount/namespace": "n",
      "kubernetes.io/serviceaccount/secret.name": "s",
      "kubernetes.io/serviceaccount/service-account.name": "sa",
      "kubernetes.io/serviceaccount/service-account.uid": made.metadata.uid,
    });
    expect(text(filled, "ca.crt")).toBe("PEM");
    expect(text(filled, "namespace")).toBe("n");
    expect(
      filled!.metadata.annotations!["kubernetes.io/service-account.uid"],
    ).toBe(made.metadata.uid);
    expect(secret("other")!.data).toBeUndefined();
  });

  test("what is there stays, what is wrong is set right", async () => {
    const { api, client, settle, secret } = await begin();
    await client.resource(serviceAccounts).create(account("sa"));
    const own = Buffer.from("own").toString("base64");
    await client
      .resource(secrets)
      .create({ ...secretFor("s", "sa"), data: { token: own, "ca.crt": own } });
    await settle();
    expect(text(secret("s"), "token")).toBe("own");
    expect(text(secret("s"), "ca.crt")).toBe("PEM");
    const before = api.writes.length;
    await client.resource(secrets).patch("s", "n", {
      type: "merge",
      body: { metadata: { labels: { a: "b" } } },
    });
    await settle();
    // The label's write alone.
    expect(api.writes).toHaveLength(before + 1);
    await client
      .resource(secrets)
      .patch("s", "n", { type: "merge", body: { data: { token: "" } } });
    await settle();
    expect(text(secret("s"), "token")).toContain("kubernetes/serviceaccount");
  });

  test("Secrets of no account are deleted, and with their account", async () => {
    const { client, settle, secret } = await begin();
    await client.resource(secrets).create(secretFor("early", "none"));
    await client.resource(serviceAccounts).create(account("sa"));
    await client.resource(serviceAccounts).create(account("stays"));
    await client.resource(secrets).create(secretFor("s", "sa"));
    await client.resource(secrets).create(secretFor("kept", "stays"));
    await client.resource(secrets).create(
      secretFor("of-another", "sa", {
        annotations: {
          "kubernetes.io/service-account.name": "sa",
          "kubernetes.io/service-account.uid": "another",
        },
      }),
    );
    await settle();
    expect(secret("early")).toBeUndefined();
    expect(secret("of-another")).toBeUndefined();
    expect(text(secret("s"), "token")).not.toBe("");
    await client.resource(serviceAccounts).delete("sa", "n");
    await settle();
    expect(secret("s")).toBeUndefined();
    expect(text(secret("kept"), "token")).not.toBe("");
  });

  test("an account no longer names a Secret that is gone", async () => {
    const { client, settle } = await begin();
    await client.resource(serviceAccounts).create(account("sa", "s", "t"));
    await client.resource(secrets).create(secretFor("s", "sa"));
    await settle();
    await client.resource(secrets).delete("s", "n");
    await settle();
    const found = await client.resource(serviceAccounts).get("sa", "n");
    expect(found.secrets).toEqual([{ name: "t" }]);
  });

  test("without a key it does not run", async () => {
    const { manager } = start({ controllers: ["serviceaccount-token"] });
    await manager.start();
    expect(manager.running).toEqual([]);
  });
});

describe("legacy-serviceaccount-token-cleaner", () => {
  const lastUsed = "kubernetes.io/legacy-token-last-used";
  const invalidSince = "kubernetes.io/legacy-token-invalid-since";
  const begin = async (since: string) => {
    const started = start({
      controllers: ["legacy-serviceaccount-token-cleaner-controller"],
      legacyServiceAccountTokenCleanUpPeriodMs: 10 * dayMs,
    });
    const { client } = started;
    await client.resource(configMaps).create({
      metadata: {
        name: "kube-apiserver-legacy-service-account-token-tracking",
        namespace: "kube-system",
      },
      data: { since },
    } as ConfigMap);
    return started;
  };
  const marks = (found: Secret | undefined): string | undefined =>
    found?.metadata.labels?.[invalidSince];

  test("what nobody uses is marked, and deleted a period later", async () => {
    const { clock, client, manager, settle, secret } =
      await begin("2025-05-01");
    const all = client.resource(secrets);
    const named = ["old", "used", "odd", "mounted", "young"];
    await client.resource(serviceAccounts).create(account("sa", ...named));
    await all.create(secretFor("old", "sa"));
    await all.create(secretFor("manual", "sa"));
    await all.create(secretFor("mounted", "sa"));
    await all.create(
      secretFor("odd", "sa", { labels: { [lastUsed]: "2025-02-31" } }),
    );
    const pod: Pod = testPod("p");
    pod.metadata.namespace = "n";
    pod.spec.volumes = [{ name: "v", secret: { secretName: "mounted" } }];
    await client.resource(pods).create(pod);
    clock.advance(11 * dayMs);
    await all.create(
      secretFor("used", "sa", { labels: { [lastUsed]: "2025-06-10" } }),
    );
    await all.create(secretFor("young", "sa"));
    await manager.start();
    await settle();
    expect(marks(secret("old"))).toBe("2025-06-12");
    for (const name of ["manual", "mounted", "odd", "used", "young"])
      expect([name, marks(secret(name))]).toEqual([name, undefined]);
    // Ten days on it is marked since, not before, the tenth day.
    await settle(10 * dayMs);
    expect(marks(secret("old"))).toBe("2025-06-12");
    await settle(dayMs);
    expect(secret("old")).toBeUndefined();
    for (const name of ["manual", "mounted", "odd"])
      expect(secret(name)?.metadata.deletionTimestamp).toBeUndefined();
  });

  test.each([
    ["2025-06-01", "tracked for too short a time"],
    ["yesterday", "a date that is none"],
  ])("since %s: %s, nothing is done", async (since) => {
    const { clock, client, manager, settle, secret } = await begin(since);
    await client.resource(serviceAccounts).create(account("sa", "old"));
    await client.resource(secrets).create(secretFor("old", "sa"));
    clock.advance(10 * dayMs + 1);
    await manager.start();
    await settle();
    expect(secret("old")).toBeDefined();
    expect(marks(secret("old"))).toBeUndefined();
  });
});

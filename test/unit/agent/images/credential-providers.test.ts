// Credential provider programs, as real processes: what they are asked, how long answers are kept, and those that fail,
// flood, answer nonsense or are asked by many at once.
import * as fs from "node:fs";
import * as path from "node:path";
import { pino } from "pino";
import type { CredentialProvider } from "../../../../agent/config/credential-provider.ts";
import { CredentialProviderCache } from "../../../../agent/images/credential-providers.ts";
import { ProviderMetrics } from "../../../../agent/images/provider-metrics.ts";
import { metricsText } from "../../../../api/metrics/family.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const temp = useTempDirectories();
const apiVersion = "credentialprovider.kubelet.k8s.io/v1";

const answerOf = (fields: object): string =>
  JSON.stringify({
    kind: "CredentialProviderResponse",
    apiVersion,
    cacheKeyType: "Image",
    auth: { "ghcr.io": { username: "robot", password: "SECRET" } },
    ...fields,
  });

/** A program that counts its runs, keeps its last request, and then does what `body` says. */
function provider(body: string, settings: Partial<CredentialProvider> = {}) {
  const directory = temp();
  const program = path.join(directory, "provider");
  fs.writeFileSync(
    program,
    `#!/bin/sh\ncat > ${directory}/request\necho run >> ${directory}/runs\n${body}\n`,
    { mode: 0o755 },
  );
  const clock = new FakeClock();
  const metrics = new ProviderMetrics();
  const lines: string[] = [];
  const cache = new CredentialProviderCache({
    provider: {
      name: "provider",
      program,
      apiVersion,
      matchImages: ["ghcr.io", "*.example.com/team"],
      defaultCacheMs: 60_000,
      arguments: ["get"],
      environment: { WHO: "robot" },
      ...settings,
    },
    clock,
    logger: pino({}, { write: (line: string) => void lines.push(line) }),
    metrics,
  });
  return {
    cache,
    clock,
    log: () => lines.join(""),
    counted: () => metricsText(metrics.families()),
    request: () =>
      JSON.parse(fs.readFileSync(`${directory}/request`, "utf8")) as object,
    runs: () =>
      fs.existsSync(`${directory}/runs`)
        ? fs.readFileSync(`${directory}/runs`, "utf8").trim().split("\n").length
        : 0,
  };
}

const says = (fields: object): string =>
  `cat <<'END'\n${answerOf(fields)}\nEND`;

test("a program is asked for the images it serves, with arguments and environment, and its answer is kept", async () => {
  const { cache, clock, request, runs } = provider(
    `cat <<END\n${answerOf({ auth: { "ghcr.io": { username: "$WHO-$1", password: "p" } } })}\nEND`,
  );
  expect(await cache.find("quay.io/x")).toEqual([]);
  expect(runs()).toBe(0);
  const found = [
    {
      key: "ghcr.io",
      auth: { username: "robot-get", password: "p" },
    },
  ];
  expect(await cache.find("ghcr.io/a")).toEqual(found);
  expect(request()).toEqual({
    kind: "CredentialProviderRequest",
    apiVersion,
    image: "ghcr.io/a",
  });
  expect(await cache.find("ghcr.io/a")).toEqual(found);
  expect(runs()).toBe(1);
  clock.advance(60_001);
  expect(await cache.find("ghcr.io/a")).toEqual(found);
  expect(runs()).toBe(2);
});

test.each([
  ["Image", 2],
  ["Registry", 1],
  ["Global", 1],
])(
  "an answer for one %s is asked %i times for two images",
  async (cacheKeyType, asked) => {
    const { cache, runs } = provider(says({ cacheKeyType }));
    await cache.find("ghcr.io/a");
    await cache.find("ghcr.io/b");
    expect(runs()).toBe(asked);
  },
);

test("an answer says itself how long it is kept; 0: not at all", async () => {
  const short = provider(says({ cacheDuration: "1s" }));
  await short.cache.find("ghcr.io/a");
  short.clock.advance(1001);
  await short.cache.find("ghcr.io/a");
  expect(short.runs()).toBe(2);
  const never = provider(says({ cacheDuration: "0s" }));
  await never.cache.find("ghcr.io/a");
  await never.cache.find("ghcr.io/a");
  expect(never.runs()).toBe(2);
});

test("many that ask for one image at once run the program once", async () => {
  const { cache, runs } = provider(says({ cacheDuration: "0s" }));
  await Promise.all(Array.from({ length: 10 }, () => cache.find("ghcr.io/a")));
  expect(runs()).toBe(1);
});

test.each([
  ["an error", "echo broken >&2; exit 3", /exit status 3: broken/, 1],
  ["a signal", "kill -9 $$", /signal: SIGKILL/, 1],
  ["a flood", "head -c 3000000 /dev/zero", /more than 1048576 bytes/, 1],
  ["no JSON", "echo SECRET", /error decoding credential provider/, 0],
  ["a list", "echo '[]'", /error decoding credential provider/, 0],
  [
    "another version",
    says({ apiVersion: "credentialprovider.kubelet.k8s.io/v1beta1" }),
    /did not match expected apiVersion/,
    0,
  ],
  ["another kind", says({ kind: "Secret" }), /error decoding/, 0],
  ["another key type", says({ cacheKeyType: "All" }), /cacheKeyType/, 0],
  ["a bad duration", says({ cacheDuration: "soon" }), /error decoding/, 0],
  ["bad entries", says({ auth: { a: "SECRET" } }), /error decoding/, 0],
])(
  "%s gives no credentials and is reported",
  async (_what, body, message, failures) => {
    const { cache, log, counted } = provider(body);
    expect(await cache.find("ghcr.io/a")).toEqual([]);
    expect(log()).toMatch(message);
    expect(log()).not.toContain("SECRET");
    expect(counted()).toContain(
      'kubelet_credential_provider_plugin_duration_count{plugin_name="provider"} 1',
    );
    expect(
      counted().includes(
        'kubelet_credential_provider_plugin_errors{plugin_name="provider"} 1',
      ),
    ).toBe(failures === 1);
  },
);

test("what a flooding program started in another session loses its output", async () => {
  const place = temp();
  const child = `echo $$ > ${place}/pid; exec cat /dev/zero`;
  const { cache, log } = provider(
    // A child that is killed before it has a session of its own says nothing.
    `setsid sh -c '${child}' & until [ -s ${place}/pid ]; do sleep 0.01; done; head -c 3000000 /dev/zero; sleep 30`,
  );
  expect(await cache.find("ghcr.io/a")).toEqual([]);
  expect(log()).toContain("more than 1048576 bytes");
  const isGone = (): boolean => {
    const file = `${place}/pid`;
    if (!fs.existsSync(file)) return false;
    const pid = fs.readFileSync(file, "utf8").trim();
    // Where no process waits for it, it stays as a zombie.
    const status = fs.existsSync(`/proc/${pid}/stat`)
      ? fs.readFileSync(`/proc/${pid}/stat`, "utf8")
      : ") Z";
    return pid !== "" && status.includes(") Z");
  };
  await eventually(isGone, { timeoutMs: 10_000 });
});

test("a program that is gone is reported", async () => {
  const { cache, log } = provider("", { program: "/nonexistent/provider" });
  expect(await cache.find("ghcr.io/a")).toEqual([]);
  expect(log()).toContain("ENOENT");
});

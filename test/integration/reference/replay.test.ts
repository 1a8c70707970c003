// Every scenario of test/reference against `orbit apiserver`: the answers are those that were recorded from the reference.
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import { deviations } from "../../reference/deviations.ts";
import { differences } from "../../reference/differences.ts";
import {
  play,
  type Recording,
  type Scenario,
  type Target,
} from "../../reference/scenario.ts";
import { scenarios } from "../../reference/scenarios.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-port.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { makeTempDirectory } from "../../support/temp-directory.ts";

const recorded = path.join(__dirname, "../../reference/recorded");
const tokensFile =
  't,admin,admin-uid,"system:masters"\nalice,alice,alice-uid\nnobody,nobody,nobody-uid\n';

/**
 * Answers must not depend on the day: a second server's clock runs a year ahead (Debian's faketime; the monotonic clock
 * is left alone, so time limits hold). It plays what shows ages and what has an end; ORBIT_REFERENCE_AHEAD=all plays
 * everything there too.
 */
const aheadOfTime =
  process.env.ORBIT_REFERENCE_AHEAD === "all"
    ? scenarios
    : scenarios.filter(({ name }) => ["tables", "access"].includes(name));

/** Those that share a server, and each that wants one of its own. */
const plainOnes = (all: readonly Scenario[]): Scenario[] =>
  all.filter(({ options }) => !options);
const groups: readonly [
  string,
  () => NodeJS.ProcessEnv,
  readonly Scenario[],
][] = [
  ["the clock of this machine", () => ({}), plainOnes(scenarios)],
  ["the clock a year ahead", yearAhead, plainOnes(aheadOfTime)],
  ...scenarios
    .filter(({ options }) => options)
    .map((scenario): (typeof groups)[number] => [
      `options of ${scenario.name}`,
      () => ({}),
      [scenario],
    ]),
];

describe.each(groups)("%s", (_, environment, played) => {
  let server: ApiServerProcess;
  beforeAll(
    async () => (server = await startApiServer(environment(), played[0]!)),
  );
  afterAll(() => server.stop());

  test.each(played.map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (name, scenario) => {
      const expected = JSON.parse(
        fs.readFileSync(path.join(recorded, `${name}.json`), "utf8"),
      ) as Recording;
      const meant = deviations.filter((each) => each.scenario === name);
      const lines = differences(expected, await play(scenario, server.target));
      expect(
        lines.filter(
          (line) => !meant.some(({ starts }) => line.startsWith(starts)),
        ),
      ).toEqual([]);
      // A deviation that is gone has to go from the list as well.
      expect(
        meant.filter(
          ({ starts }) => !lines.some((line) => line.startsWith(starts)),
        ),
      ).toEqual([]);
    },
  );
});

/** The environment that moves a process's wall clock. The library is loaded directly: its wrapper passes no signals on. */
function yearAhead(): NodeJS.ProcessEnv {
  const [library] = fs
    .readdirSync("/usr/lib")
    .map((each) => `/usr/lib/${each}/faketime/libfaketimeMT.so.1`)
    .filter((each) => fs.existsSync(each));
  if (!library) throw new Error("the Debian package faketime is not installed");
  return {
    LD_PRELOAD: library,
    FAKETIME: "+365d",
    DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}

interface ApiServerProcess {
  target: Target;
  stop(): Promise<void>;
}

/** Starts `orbit apiserver` as the reference was started for the recordings (test/reference/README.md). */
async function startApiServer(
  environment: NodeJS.ProcessEnv,
  { options = [], files = {} }: Pick<Scenario, "options" | "files">,
): Promise<ApiServerProcess> {
  const directory = makeTempDirectory("orbit-reference-");
  const [port] = (await freePorts(1)) as [number];
  const target = { url: `https://127.0.0.1:${port}`, token: "t" };
  const tokens = path.join(directory, "tokens");
  fs.writeFileSync(tokens, tokensFile);
  const key = path.join(directory, "sa.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  fs.writeFileSync(key, privateKey.export({ type: "sec1", format: "pem" }));
  const args = [
    orbitProgram,
    "apiserver",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    "--storage-backend=memory",
    `--secure-port=${port}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--cert-dir=${directory}/certs`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--authorization-mode=RBAC",
    `--token-auth-file=${tokens}`,
    "--disable-admission-plugins=ServiceAccount",
    "--allow-privileged",
    ...options.map((option) => option.replace("@", `${directory}/`)),
  ];
  for (const [name, text] of Object.entries(files))
    fs.writeFileSync(path.join(directory, name), text);
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => isReady(target), {
    what: "the API server to be ready",
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${output.slice(-4000)}`);
  });
  return {
    target,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      fs.rmSync(directory, { recursive: true, force: true });
    },
  };
}

function isReady({ url, token }: Target): Promise<boolean> {
  return new Promise((resolve) => {
    https
      .get(
        `${url}/readyz`,
        {
          rejectUnauthorized: false,
          headers: { authorization: `Bearer ${token}` },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode === 200);
        },
      )
      .on("error", () => resolve(false));
  });
}

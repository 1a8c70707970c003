// Every scenario of test/reference against `orbit apiserver`: the answers are those that were recorded from the reference.
import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import { deviations } from "../../reference/deviations.ts";
import { differences } from "../../reference/differences.ts";
import { play, type Recording, type Target } from "../../reference/scenario.ts";
import { scenarios } from "../../reference/scenarios.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-port.ts";
import { orbitProgram } from "../../support/start-orbit.ts";
import { makeTempDirectory } from "../../support/temp-directory.ts";

const recorded = path.join(__dirname, "../../reference/recorded");
let child: ChildProcess;
let directory: string;
let target: Target;
let output = "";

beforeAll(async () => {
  directory = makeTempDirectory("orbit-reference-");
  const [port] = (await freePorts(1)) as [number];
  target = { url: `https://127.0.0.1:${port}`, token: "t" };
  const tokens = path.join(directory, "tokens");
  fs.writeFileSync(
    tokens,
    't,admin,admin-uid,"system:masters"\nalice,alice,alice-uid\nnobody,nobody,nobody-uid\n',
  );
  const key = path.join(directory, "sa.key");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  fs.writeFileSync(key, privateKey.export({ type: "sec1", format: "pem" }));
  const args = [
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
  ];
  child = spawn(process.execPath, [orbitProgram, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await eventually(() => isReady(target), {
    timeoutMs: 15_000,
    what: "the API server to be ready",
  }).catch((error: Error) => {
    throw new Error(`${error.message}\n${output.slice(-4000)}`);
  });
});

afterAll(async () => {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
  fs.rmSync(directory, { recursive: true, force: true });
});

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

test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
  "%s",
  async (name, scenario) => {
    const expected = JSON.parse(
      fs.readFileSync(path.join(recorded, `${name}.json`), "utf8"),
    ) as Recording;
    const meant = deviations.filter((each) => each.scenario === name);
    const lines = differences(expected, await play(scenario, target));
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
  60_000,
);

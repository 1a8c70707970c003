// A heap snapshot of the whole program holds no private key: whoever gets to see one can't act as the cluster.
import * as fs from "node:fs";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import { orbitProgram, startOrbit } from "../../support/start-orbit.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../support/temp-directory.ts";

interface Snapshot {
  readonly strings: readonly string[];
}

async function snapshotOf(pid: number, directory: string): Promise<Snapshot> {
  process.kill(pid, "SIGUSR2");
  return eventually(
    () => {
      const [file] = fs.readdirSync(directory);
      if (!file) return undefined;
      // It is no JSON before it is whole.
      const text = fs.readFileSync(path.join(directory, file), "utf8");
      return JSON.parse(text) as Snapshot;
    },
    { timeoutMs: 60_000, intervalMs: 500, what: "the snapshot to be written" },
  );
}

/** In PEM, or as a kubeconfig has it. */
const holdsKey = (text: string): boolean =>
  /BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{20}/.test(text) ||
  /LS0tLS1CRUdJTiB(QUklW|FQyBQ|SU0Eg)/.test(text);

test("no private key in a heap snapshot of a running server", async () => {
  const directory = makeTempDirectory("orbit-heap-");
  const orbit = await startOrbit({
    program: [
      "--heapsnapshot-signal=SIGUSR2",
      `--diagnostic-dir=${directory}`,
      orbitProgram,
    ],
    args: ["--disable=agent,proxy,dns"],
  });
  try {
    // Every key has been used: the store's files, tokens, clients of this process.
    await orbit.kubectl("create token default");
    await orbit.kubectl("get pods --all-namespaces");
    const key = fs.readFileSync(
      path.join(orbit.directory, "data/pki/ca.key"),
      "utf8",
    );
    expect(holdsKey(key)).toBe(true);
    expect(holdsKey(Buffer.from(key).toString("base64"))).toBe(true);
    const { strings } = await snapshotOf(orbit.pid, directory);
    expect(strings.some((text) => text.includes("BEGIN CERTIFICATE"))).toBe(
      true,
    );
    expect(strings.filter(holdsKey).map((text) => text.slice(0, 40))).toEqual(
      [],
    );
  } finally {
    await orbit.clean();
    removeTempDirectory(directory);
  }
});

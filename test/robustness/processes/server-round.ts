// The real `orbit apiserver` on a file store: clients create, update, delete and watch ConfigMaps over HTTPS while the
// process is killed, at a random moment or a crash point, and started again. Every acknowledged write is there, what was
// not answered is there or not for good, resourceVersions never go back, and watches that are resumed after the restart
// see every write once and in order, or are told that their version is gone.
import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { freePorts } from "../../support/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import { Random } from "../random.ts";
import { Faults, type RoundResult } from "../round.ts";
import { ApiClient, tokenFile } from "./api-client.ts";
import { ServerModel } from "./server-model.ts";

const collection = "/api/v1/namespaces/default/configmaps";
const points = [
  "store.commit.begin",
  "store.append.begin",
  "store.append.durable",
  "store.commit.durable",
];
const objects = 12;

export interface ServerProgram {
  /** The program, built with its crash points. */
  readonly program: string;
  /** kill-at.cjs */
  readonly preload: string;
}

export async function serverRound(
  seed: number,
  directory: string,
  program: ServerProgram,
): Promise<RoundResult> {
  const round = new ServerRound(seed, directory, program);
  try {
    await round.run();
  } catch (error) {
    round.model.breaks(
      `the round failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  } finally {
    round.kill();
  }
  return { faults: round.faults.counts, broken: round.model.broken };
}

class ServerRound {
  readonly model = new ServerModel();
  readonly faults = new Faults();
  readonly #random: Random;
  #child: ChildProcess | undefined;
  #ended = true;

  constructor(
    seed: number,
    private readonly directory: string,
    private readonly program: ServerProgram,
  ) {
    this.#random = new Random(seed);
  }

  async run(): Promise<void> {
    for (let life = 0; life < 3 && this.model.broken.length === 0; life++)
      await this.#live(false);
    await this.#live(true);
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  async #live(last: boolean): Promise<void> {
    const random = this.#random.fork();
    const point =
      !last && random.chance(0.5)
        ? `${random.pick(points)}:${40 + random.integer(200)}`
        : undefined;
    const [port] = (await freePorts(1)) as [number];
    const exited = this.#start(port, point);
    const client = new ApiClient(port);
    await eventually(
      async () =>
        this.#ended || (await client.request("GET", "/readyz")).status === 200,
      { timeoutMs: 30_000, what: "the API server to be ready" },
    );
    if (this.#ended) {
      // The crash point came while it started.
      this.faults.add(`kill at ${point}`.replace(/:\d+$/, ""));
      client.close();
      return;
    }
    const { body } = await client.request("GET", collection);
    this.model.listed(
      Number(body.metadata.resourceVersion),
      body.items as never,
    );
    const watches = this.model
      .watchers(2)
      .map((watcher) =>
        client.watch(
          `${collection}?watch=1&resourceVersion=${watcher.at}`,
          (line) => this.model.saw(watcher, line),
        ),
      );
    if (!last) {
      const writers = Array.from({ length: objects }, (_, number) =>
        this.#write(client, `c${number}`, random.fork()),
      );
      if (point) await exited;
      else
        await Promise.race([
          exited,
          new Promise((resolve) =>
            setTimeout(resolve, 100 + random.integer(400)),
          ),
        ]);
      this.kill();
      await exited;
      await Promise.all(writers);
      this.faults.add(
        (point ? `kill at ${point}` : "kill -9 of the server").replace(
          /:\d+$/,
          "",
        ),
      );
    } else {
      // What watches were resumed for arrives, or they are told that it is gone.
      await eventually(() => this.model.watchersAreThrough(), {
        timeoutMs: 20_000,
        what: `the watches (${this.model.behind()})`,
      });
      this.kill();
      await exited;
      this.model.checkSeen();
    }
    await Promise.all(watches);
    client.close();
  }

  #start(port: number, point: string | undefined): Promise<void> {
    const tokens = path.join(this.directory, "tokens");
    fs.writeFileSync(tokens, tokenFile);
    const child = spawn(
      process.execPath,
      [
        ...["--require", this.program.preload, this.program.program],
        ...["apiserver", "--storage-backend=file"],
        `--cert-dir=${path.join(this.directory, "server")}`,
        ...[`--secure-port=${port}`, "--bind-address=127.0.0.1"],
        "--service-cluster-ip-range=10.96.0.0/16",
        "--disable-admission-plugins=ServiceAccount",
        `--token-auth-file=${tokens}`,
      ],
      {
        stdio: "ignore",
        env: { ...process.env, ORBIT_CRASH_POINT: point ?? "" },
      },
    );
    this.#child = child;
    this.#ended = false;
    return new Promise((resolve) =>
      child.once("exit", () => {
        this.#ended = true;
        resolve();
      }),
    );
  }

  /** One writer an object, so that the order of its writes is known. */
  async #write(client: ApiClient, name: string, random: Random): Promise<void> {
    for (let count = 0; !this.#ended; count++) {
      const known = this.model.known(name);
      const value = `${count}:${"v".repeat(random.integer(400))}`;
      const removes = known !== undefined && random.chance(0.15);
      const object = {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name, namespace: "default" },
        data: { value },
      };
      this.model.begins(name, removes ? undefined : value);
      const call = removes
        ? client.request("DELETE", `${collection}/${name}`)
        : known
          ? client.request("PUT", `${collection}/${name}`, object)
          : client.request("POST", collection, object);
      const answer = await call.catch(() => undefined);
      // Not answered: the process has ended, or ends just now.
      if (!answer) return;
      this.model.answered(name, answer);
    }
  }
}

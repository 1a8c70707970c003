// A kind that is registered, replaced and unregistered while others write its objects without a pause. Whoever watches it,
// over HTTP or as an informer of the process, sees each revision once and in order for as long as it is there, and every
// list is the state of its revision. On memory and file writers write into the store; on etcd through another server.
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import { superuser } from "../../../apiserver-lite/index.ts";
import { createClient } from "../../../client/create-client.ts";
import { createEtcdStore } from "../../../storage/etcd/etcd-store.ts";
import { createFileStore } from "../../../storage/file/file-store.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import type { Store } from "../../../storage/store.ts";
import { customKind, widget, widgets } from "../../support/custom-kind.ts";
import { startEtcd, type TestEtcd } from "../../support/etcd.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { startTestServer, type TestServer } from "./support.ts";

const tempDirectory = useTempDirectories();
const prefix = "/registry/example.com/widgets/default/";
const names = 12;
const rounds = 9;
const writesARound = 25;
const logger = pino({ level: "silent" });

interface Change {
  readonly name: string;
  readonly revision: number;
  readonly gone: boolean;
}

/** All writes of the kind, as the store has them. */
class Log {
  readonly changes: Change[] = [];

  constructor(store: Store) {
    store.subscribe(
      store.revision,
      (events) => {
        for (const { key, revision, type } of events)
          if (key.startsWith(prefix))
            this.changes.push({
              name: key.slice(prefix.length),
              revision,
              gone: type === "delete",
            });
      },
      (error) => {
        throw error;
      },
    );
  }

  after(revision: number, upTo = Infinity): string[] {
    return this.changes
      .filter((change) => change.revision > revision && change.revision <= upTo)
      .map(
        ({ name, revision: at, gone }) => `${name}@${at}${gone ? " gone" : ""}`,
      );
  }

  /** The state at a revision. */
  at(revision: number): string[] {
    const state = new Map<string, number>();
    for (const change of this.changes) {
      if (change.revision > revision) break;
      if (change.gone) state.delete(change.name);
      else state.set(change.name, change.revision);
    }
    return [...state].map(([name, at]) => `${name}@${at}`).sort();
  }
}

/** How far a follower is. */
interface Followed {
  /** Watches it has opened. */
  opened: number;
  /** Watches that have ended. */
  sessions: number;
  events: number;
}

/** Lists and watches over HTTP as long as it is asked to, and checks what it sees. */
async function follow(
  { call, watch }: TestServer,
  log: Log,
  done: () => boolean,
  followed: Followed,
): Promise<void> {
  while (!done()) {
    const listed = await call("GET", widgets);
    if (listed.status !== 200) {
      expect(listed.status).toBe(404);
      continue;
    }
    const revision = Number(listed.body.metadata.resourceVersion);
    const items = (
      listed.body.items as {
        metadata: { name: string; resourceVersion: string };
      }[]
    )
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .sort();
    const reader = await watch(
      `${widgets}?watch=1&resourceVersion=${revision}`,
    );
    const seen: string[] = [];
    if (reader.status === 200) followed.opened++;
    for (;;) {
      const frame = reader.status === 200 ? await reader.next() : undefined;
      // Gone between list and watch, or read again since.
      if (!frame || (frame.type === "ERROR" && frame.object.code === 410))
        break;
      const { name, resourceVersion } = frame.object.metadata;
      seen.push(
        `${name}@${resourceVersion}${frame.type === "DELETED" ? " gone" : ""}`,
      );
    }
    const last = Number(seen.at(-1)?.match(/@(\d+)/)?.[1] ?? revision);
    await eventually(
      () => (log.changes.at(-1)?.revision ?? 0) >= Math.min(last, revision),
    );
    expect(items).toEqual(log.at(revision));
    expect(seen).toEqual(log.after(revision, last));
    followed.sessions++;
    followed.events += seen.length;
  }
}

async function storm(
  watched: TestServer,
  /** Where all events are seen, in this process or by another server. */
  store: Store,
  write: (name: string, gone: boolean, at: number) => Promise<unknown>,
): Promise<void> {
  const { registry } = watched.server;
  const log = new Log(store);
  let ending = false;
  let written = 0;
  const writers = [0, 1, 2].map(async (first) => {
    for (let at = first; !ending; at += 3) {
      await write(`w${(at * 7) % names}`, at % 5 === 4, at);
      written++;
      // The memory store answers without a turn of the loop: others would get none.
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  const more = async (count: number): Promise<void> => {
    const from = written;
    await eventually(() => written >= from + count, { timeoutMs: 30_000 });
  };
  // A list's answer comes late: writes go on while it is on its way.
  const list = registry.store.list.bind(registry.store);
  registry.store.list = async (of) => {
    const answer = await list(of);
    await more(writesARound / 5);
    return answer;
  };
  await registry.kinds.register(customKind());
  const client = createClient(watched.server.transport(superuser), {
    clock: systemClock,
    logger,
  });
  const informed: string[] = [];
  const state = new Map<string, string>();
  client
    .informer({
      group: "example.com",
      version: "v1",
      resource: "widgets",
      kind: "Widget",
      namespaced: true,
    })
    .addHandler({
      onAdd: ({ metadata }) => {
        informed.push(`${metadata.name}@${metadata.resourceVersion}`);
        state.set(metadata.name, metadata.resourceVersion!);
      },
      onUpdate: (_, { metadata }) => {
        informed.push(`${metadata.name}@${metadata.resourceVersion}`);
        state.set(metadata.name, metadata.resourceVersion!);
      },
      onDelete: ({ metadata }) => {
        informed.push(`${metadata.name} gone`);
        state.delete(metadata.name);
      },
    });
  const followed = [0, 1].map(() => ({ opened: 0, sessions: 0, events: 0 }));
  const followers = followed.map((one) =>
    follow(watched, log, () => ending, one),
  );
  /** From which revision to which the informer must have been given everything, and where that is in what it was given. */
  const periods: { from: number; upTo: number; first: number; end: number }[] =
    [];
  const present = () => registry.storedKind("example.com", "widgets")!.cache;
  let from = present().loadedAt;
  let first = informed.length;
  const end = (): void => {
    periods.push({
      from,
      upTo: registry.cache.revision,
      first,
      end: informed.length,
    });
  };
  // The informer began with what was there.
  from = registry.cache.revision;
  for (let round = 0; round < rounds; round++) {
    const before = followed.map(({ opened }) => opened);
    await more(writesARound);
    // However fast they write, those who follow see some of each round.
    await eventually(() =>
      followed.every(({ opened }, at) => opened > before[at]!),
    );
    await more(writesARound / 5);
    if (round % 3 === 2) {
      // In the same turn: what comes after it is not seen.
      end();
      await registry.kinds.unregister({
        group: "example.com",
        resource: "widgets",
      });
      await more(writesARound / 5);
      await registry.kinds.register(customKind());
      // What differs came first, then the events after the list.
      from = registry.cache.revision;
      first = informed.length;
    } else
      await registry.kinds.register(
        customKind({ versions: round % 2 ? ["v1"] : ["v1beta1", "v1"] }),
      );
  }
  await more(writesARound);
  ending = true;
  await Promise.all(writers);
  await eventually(() => registry.cache.revision >= store.revision);
  end();
  for (const period of periods)
    expect(informed.slice(period.first, period.end)).toEqual(
      log
        .after(period.from, period.upTo)
        .map((change) => change.replace(/@\d+ gone/, " gone")),
    );
  await eventually(
    () =>
      (log.changes.at(-1)?.revision ?? 0) >=
      Math.max(...[...state.values()].map(Number)),
  );
  expect([...state].map(([name, at]) => `${name}@${at}`).sort()).toEqual(
    log.at(Infinity),
  );
  // Nobody waits for an event that never comes.
  await registry.kinds.unregister({
    group: "example.com",
    resource: "widgets",
  });
  await Promise.all(followers);
  for (const { sessions, events } of followed) {
    expect(sessions).toBeGreaterThan(3);
    expect(events).toBeGreaterThan(writesARound);
  }
  await client.close();
}

/** Writes as another process would: without what the registry attaches. */
const writeTo =
  (store: Store) =>
  (name: string, gone: boolean, at: number): Promise<unknown> => {
    const value = Buffer.from(
      `${JSON.stringify(widget(name, { spec: { size: at } }))}\n`,
    );
    return store.write({
      key: prefix + name,
      expectedRevision: undefined,
      encode: () => (gone ? undefined : value),
    });
  };

test.each<[string, () => Store]>([
  ["memory", () => createMemoryStore()],
  [
    "file",
    () => createFileStore({ directory: path.join(tempDirectory(), "s") }),
  ],
])("on the %s store", async (_, makeStore) => {
  const store = makeStore();
  const server = await startTestServer({ store, bookmarkIntervalMs: 60_000 });
  try {
    await storm(server, store, writeTo(store));
  } finally {
    await server.stop();
  }
});

describe("on etcd", () => {
  let etcd: TestEtcd;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  test("with two API servers", async () => {
    const storeOf = (): Store =>
      createEtcdStore({ servers: [etcd.url], compactionIntervalMs: 0 });
    const watched = await startTestServer({
      store: storeOf(),
      shutdownGraceMs: 100,
    });
    const other = await startTestServer({
      store: storeOf(),
      shutdownGraceMs: 100,
    });
    try {
      await other.server.registry.kinds.register(customKind());
      await storm(
        watched,
        other.server.registry.store,
        async (name, gone, at) => {
          const made = gone
            ? await other.call("DELETE", `${widgets}/${name}`)
            : await other.call(
                "PATCH",
                `${widgets}/${name}?fieldManager=storm&force=true`,
                widget(name, { spec: { size: at } }),
                {
                  "content-type": "application/apply-patch+yaml",
                },
              );
          expect([200, 201, 404, 409]).toContain(made.status);
        },
      );
    } finally {
      await watched.stop();
      await other.stop();
    }
  }, 180_000);
});

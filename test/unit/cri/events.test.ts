// The event source on a scripted connection: events, exits that settle, a runtime without events, reconnection.
import { EventEmitter } from "node:events";
import type { ClientReadableStream } from "@grpc/grpc-js";
import pino from "pino";
import type { Connection } from "../../../cri/containerd/connection.ts";
import { EventSource } from "../../../cri/containerd/events.ts";
import { containerdMessages } from "../../../cri/containerd/services.ts";
import { createWireCodec } from "../../../grpc/wire.ts";
import { RuntimeError, type RuntimeEvent } from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const codec = createWireCodec(containerdMessages);

class Stream extends EventEmitter {
  cancelled = false;
  cancel(): void {
    this.cancelled = true;
  }
  send(topic: string, message: string, payload: object): void {
    this.emit("data", {
      topic,
      event: { value: codec.encode(message, payload) },
    });
  }
}

function setUp(): {
  clock: FakeClock;
  source: EventSource;
  events: string[];
  /** id → CRI state: 0 created, 1 running, 2 exited */
  containers: Map<string, number>;
  /** id → CRI state: 0 ready, 1 not ready */
  sandboxes: Map<string, number>;
  streams: Stream[];
  reachable: { now: boolean };
  lists: () => number;
  sandboxLists: () => number;
  /** Lists of all containers are answered with what there is now when the returned function is called. */
  held(): () => void;
  settle(advanceMs?: number): Promise<void>;
} {
  const clock = new FakeClock();
  const containers = new Map<string, number>();
  const sandboxes = new Map<string, number>();
  const streams: Stream[] = [];
  const reachable = { now: true };
  let lists = 0;
  let sandboxLists = 0;
  let hold = Promise.resolve();
  const connection = {
    call(method: string, request: { filter?: { id?: string } }) {
      if (!reachable.now)
        return Promise.reject(new RuntimeError("unavailable", "gone"));
      const wanted = request.filter?.id;
      if (method === "ListPodSandbox") {
        if (wanted !== undefined) sandboxLists++;
        return Promise.resolve({
          items: [...sandboxes]
            .filter(([id]) => wanted === undefined || id === wanted)
            .map(([id, state]) => ({ id, state })),
        });
      }
      if (method !== "ListContainers") return Promise.resolve({});
      lists++;
      const answer = {
        containers: [...containers]
          .filter(([id]) => wanted === undefined || id === wanted)
          .map(([id, state]) => ({ id, state })),
      };
      return wanted === undefined ? hold.then(() => answer) : answer;
    },
    serverStream() {
      const stream = new Stream();
      streams.push(stream);
      return stream as unknown as ClientReadableStream<unknown>;
    },
    decode: (message: string, bytes: Uint8Array) =>
      codec.decode(message, bytes),
  } as unknown as Connection;
  const source = new EventSource({
    connection,
    clock,
    logger: pino({ level: "silent" }),
    onConnect: () => undefined,
  });
  const events: string[] = [];
  source.subscribe(({ type, id }: RuntimeEvent) =>
    events.push(`${type} ${id}`),
  );
  return {
    clock,
    source,
    events,
    containers,
    streams,
    reachable,
    sandboxes,
    lists: () => lists,
    sandboxLists: () => sandboxLists,
    held() {
      let release: () => void = () => undefined;
      hold = new Promise((resolve) => (release = resolve));
      return release;
    },
    async settle(advanceMs = 0) {
      for (let step = 0; step < 20; step++) {
        clock.advance(advanceMs / 20);
        for (let turn = 0; turn < 5; turn++)
          await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

test("an exit is given once, when the list shows it; an exec's end is none", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle();
  streams[0]!.send("/tasks/exit", "TaskExit", {
    container_id: "c",
    id: "exec-1",
  });
  await settle(100);
  expect(events).toEqual([]);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(10);
  expect(events).toEqual([]);
  containers.set("c", 2);
  await settle(1000);
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("an exit the list never shows is given in the end", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle();
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(2000);
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("a container that ends at once is created, running and exited in the lists: only the last counts", async () => {
  const { source, events, containers, streams, settle } = setUp();
  source.start();
  await settle();
  containers.set("c", 0);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(10);
  expect(events).toEqual([]);
  containers.set("c", 1);
  await settle(10);
  expect(events).toEqual([]);
  containers.set("c", 2);
  await settle(1000);
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("an exit that was given before a list showed it is given again when one does", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(500);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(2000);
  expect(events).toEqual(["exited c"]);
  containers.set("c", 2);
  await settle(16_000);
  expect(events).toEqual(["exited c", "exited c"]);
  await settle(16_000);
  expect(events).toHaveLength(2);
  source.stop();
});

test("a sandbox's exit is given once its network is down, and few calls look for it", async () => {
  const { source, events, sandboxes, lists, sandboxLists, streams, settle } =
    setUp();
  sandboxes.set("s", 0);
  source.start();
  await settle();
  const before = lists();
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "s", id: "s" });
  await settle(60);
  expect(events).toEqual([]);
  sandboxes.set("s", 1);
  await settle(100);
  expect(events).toEqual(["exited s"]);
  expect(lists() - before).toBe(1);
  expect(sandboxLists()).toBeLessThanOrEqual(5);
  source.stop();
});

test("a container that is removed before its exit settled gives no exit after its end", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle();
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  streams[0]!.send("/containers/delete", "ContainerDelete", { id: "c" });
  await settle(2000);
  expect(events).toEqual(["deleted c"]);
  source.stop();
});

test("events that were missed come from the slow relist", async () => {
  const { source, events, containers, lists, settle } = setUp();
  containers.set("a", 1).set("b", 1);
  source.start();
  await settle(1000);
  containers.set("a", 2).set("new", 1).delete("b");
  await settle(16_000);
  expect(events.sort()).toEqual(["deleted b", "exited a", "started new"]);
  expect(lists()).toBeLessThan(5);
  source.stop();
});

test("a runtime without events is listed every second", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("a", 1);
  source.start();
  await settle();
  streams[0]!.emit(
    "error",
    Object.assign(new Error("unimplemented"), { code: 12 }),
  );
  await settle(500);
  containers.set("a", 2);
  await settle(1500);
  expect(events).toEqual(["exited a"]);
  expect(streams).toHaveLength(1);
  source.stop();
});

test("after a loss: back-off, one lost event, and what changed meanwhile", async () => {
  const { source, events, containers, streams, reachable, settle } = setUp();
  containers.set("a", 1);
  source.start();
  await settle(1000);
  reachable.now = false;
  streams[0]!.emit("error", Object.assign(new Error("gone"), { code: 14 }));
  await settle(5000);
  expect(events).toEqual([]);
  containers.set("a", 2);
  reachable.now = true;
  await settle(3000);
  expect(events).toEqual(["lost ", "exited a"]);
  expect(streams).toHaveLength(2);
  source.stop();
  expect(streams[1]!.cancelled).toBe(true);
});

test("a listener that throws does not stop the others; nonsense on the stream does nothing", async () => {
  const { source, events, streams, settle } = setUp();
  const seen: string[] = [];
  source.subscribe(() => {
    throw new Error("bad listener");
  });
  const stop = source.subscribe(({ id }) => seen.push(id));
  source.start();
  await settle();
  streams[0]!.emit("data", {
    topic: "/tasks/start",
    event: { value: Buffer.from("ff", "hex") },
  });
  streams[0]!.emit("data", {
    topic: "/unknown",
    event: { value: Buffer.alloc(0) },
  });
  streams[0]!.send("/tasks/start", "TaskStart", { container_id: "x" });
  stop();
  streams[0]!.send("/tasks/oom", "TaskOOM", { container_id: "x" });
  expect(events).toEqual(["started x", "oom x"]);
  expect(seen).toEqual(["x"]);
  source.stop();
});

test("the exit of what a call of ours ends is given with its answer, and not looked for", async () => {
  const { source, events, containers, streams, settle, lists, sandboxLists } =
    setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  const before = lists();
  let answer: () => void = () => undefined;
  const call = source.whileEnding(
    "c",
    "stop",
    () => new Promise<void>((resolve) => (answer = resolve)),
  );
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(1000);
  expect(events).toEqual([]);
  answer();
  await call;
  expect(events).toEqual(["exited c"]);
  await settle(1000);
  expect(events).toEqual(["exited c"]);
  expect([lists() - before, sandboxLists()]).toEqual([0, 0]);
  source.stop();
});

test("the stop of one that had just ended by itself resolves when the CRI side knows it", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  let stopped = false;
  const call = source
    .whileEnding("c", "stop", () => Promise.resolve())
    .then(() => (stopped = true));
  await settle(20);
  expect([stopped, events]).toEqual([false, []]);
  containers.set("c", 2);
  await settle(20);
  await call;
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("one that ends by itself while a stop is refused is waited for by the next", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  let refuse: (error: Error) => void = () => undefined;
  const first = source.whileEnding(
    "c",
    "stop",
    () => new Promise<void>((_resolve, reject) => (refuse = reject)),
  );
  // Beside another stop of it.
  let answer: () => void = () => undefined;
  const other = source.whileEnding(
    "c",
    "stop",
    () => new Promise<void>((resolve) => (answer = resolve)),
  );
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  refuse(new Error("ttrpc: closed"));
  await expect(first).rejects.toThrow("ttrpc: closed");
  let stopped = false;
  const second = source
    .whileEnding("c", "stop", () => Promise.resolve())
    .then(() => (stopped = true));
  await settle(20);
  expect([stopped, events]).toEqual([false, []]);
  containers.set("c", 2);
  await settle(40);
  await second;
  answer();
  await other;
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("of one that is deleted while a stop waits for its exit no exit is given", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  const call = source.whileEnding("c", "stop", () => Promise.resolve());
  await settle();
  containers.delete("c");
  streams[0]!.send("/containers/delete", "ContainerDelete", { id: "c" });
  await call;
  await settle(1000);
  expect(events).toEqual(["deleted c"]);
  source.stop();
});

test.each([
  [
    "announced while it was under way",
    async ({ source, streams }: ReturnType<typeof setUp>) => {
      let answer: () => void = () => undefined;
      const call = source.whileEnding(
        "c",
        "stop",
        () => new Promise<void>((resolve) => (answer = resolve)),
      );
      streams[0]!.send("/tasks/exit", "TaskExit", {
        container_id: "c",
        id: "c",
      });
      answer();
      await call;
    },
  ],
  [
    "not announced, and the first try failed because of it",
    async ({ source }: ReturnType<typeof setUp>) => {
      const error = new RuntimeError("unknown", "StopContainer: ttrpc: closed");
      await expect(
        source.whileEnding("c", "stop", () => Promise.reject(error)),
      ).rejects.toBe(error);
      await source.whileEnding("c", "stop", () => Promise.resolve());
    },
  ],
])(
  "a stop that is answered at once waits for an exit that was %s",
  async (_how, stop) => {
    const all = setUp();
    const { source, events, containers, settle } = all;
    containers.set("c", 1);
    source.start();
    await settle(1000);
    let stopped = false;
    const call = stop(all).then(() => (stopped = true));
    await settle(20);
    expect([stopped, events]).toEqual([false, []]);
    containers.set("c", 2);
    await settle(40);
    await call;
    expect(events).toEqual(["exited c"]);
    source.stop();
  },
);

test("an exit that is announced after the answer is given again when a list shows it", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  await source.whileEnding("c", "stop", () => Promise.resolve());
  expect(events).toEqual(["exited c"]);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  await settle(20);
  expect(events).toEqual(["exited c"]);
  containers.set("c", 2);
  await settle(40);
  expect(events).toEqual(["exited c", "exited c"]);
  source.stop();
});

test("what begins or ends while everything is listed is newer than the list", async () => {
  const { source, events, containers, streams, settle, clock, held } = setUp();
  containers.set("a", 1);
  source.start();
  await settle(1000);
  const release = held();
  clock.advance(15_000);
  await settle();
  containers.set("n", 1);
  streams[0]!.send("/tasks/start", "TaskStart", { container_id: "n" });
  await source.whileEnding("a", "stop", () => {
    containers.set("a", 2);
    return Promise.resolve();
  });
  release();
  await settle();
  expect(events).toEqual(["started n", "exited a"]);
  source.stop();
});

test("who waits for an exit that way is let go when the source stops", async () => {
  const { source, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  const call = source.whileEnding("c", "stop", () => Promise.resolve("told"));
  await settle();
  source.stop();
  expect(await call).toBe("told");
});

test("where that call fails, the exit is looked for", async () => {
  const { source, events, containers, streams, settle } = setUp();
  containers.set("c", 1);
  source.start();
  await settle();
  let refuse: (error: Error) => void = () => undefined;
  const call = source.whileEnding(
    "c",
    "stop",
    () => new Promise<void>((_resolve, reject) => (refuse = reject)),
  );
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  refuse(new Error("deadline"));
  await expect(call).rejects.toThrow("deadline");
  expect(events).toEqual([]);
  containers.set("c", 2);
  await settle(1000);
  expect(events).toEqual(["exited c"]);
  source.stop();
});

test("of two calls that stop one container the first answer counts; the exit's event may come after it", async () => {
  const { source, events, containers, streams, settle, lists } = setUp();
  containers.set("c", 1);
  source.start();
  await settle(1000);
  const before = lists();
  const answers: (() => void)[] = [];
  const calls = [1, 2].map(() =>
    source.whileEnding(
      "c",
      "stop",
      () => new Promise<void>((resolve) => answers.push(resolve)),
    ),
  );
  answers[1]!();
  await calls[1];
  expect(events).toEqual(["exited c"]);
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "c", id: "c" });
  answers[0]!();
  await Promise.all(calls);
  await settle(1000);
  expect(events).toEqual(["exited c"]);
  expect(lists()).toBe(before);
  source.stop();
});

test("of what a call of ours removes no exit is given", async () => {
  const { source, events, sandboxes, streams, settle, sandboxLists } = setUp();
  sandboxes.set("s", 0);
  source.start();
  await settle();
  let answer: () => void = () => undefined;
  const call = source.whileEnding(
    "s",
    "remove",
    () => new Promise<void>((resolve) => (answer = resolve)),
  );
  streams[0]!.send("/tasks/exit", "TaskExit", { container_id: "s", id: "s" });
  await settle(1000);
  streams[0]!.send("/containers/delete", "ContainerDelete", { id: "s" });
  answer();
  await call;
  await settle(1000);
  expect(events).toEqual(["deleted s"]);
  expect(sandboxLists()).toBe(0);
  source.stop();
});

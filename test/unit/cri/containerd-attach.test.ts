// An attach of input and outputs is two of containerd's, so that its outputs come whole: see attach.ts.
import { text } from "node:stream/consumers";
import { PassThrough } from "node:stream";
import { openAttach } from "../../../cri/containerd/streams/attach.ts";
import type { StreamOptions, StreamSession } from "../../../cri/runtime.ts";

interface FakeSession extends StreamSession {
  readonly asked: StreamOptions;
  readonly closed: boolean;
  end(code: number): void;
}

function fakeSession(asked: StreamOptions): FakeSession {
  let end!: (code: number) => void;
  const exit = new Promise<number>((resolve) => (end = resolve));
  const session = {
    asked,
    closed: false,
    ...(asked.stdin ? { stdin: new PassThrough().resume() } : {}),
    ...(asked.stdout ? { stdout: new PassThrough() } : {}),
    ...(asked.stderr ? { stderr: new PassThrough() } : {}),
    resize: () => undefined,
    exit,
    end,
    close: () => void (session.closed = true),
  };
  return session;
}

const all: StreamOptions = {
  stdin: true,
  stdout: true,
  stderr: true,
  tty: false,
};

async function attached(options = all) {
  const opened: FakeSession[] = [];
  const session = await openAttach((asked) => {
    opened.push(fakeSession(asked));
    return Promise.resolve(opened.at(-1)!);
  }, options);
  return { session, opened };
}

async function apart() {
  const { session, opened } = await attached();
  const [outputs, input] = opened as [FakeSession, FakeSession];
  const write = (name: "stdout" | "stderr", said: string): void =>
    void (outputs[name] as PassThrough).end(said);
  return { session, outputs, input, write };
}

test("outputs are attached first, then the input alone", async () => {
  const { opened } = await attached();
  expect(opened.map(({ asked }) => asked)).toEqual([
    { ...all, stdin: false },
    { ...all, stdout: false, stderr: false },
  ]);
});

test.each<[string, Partial<StreamOptions>]>([
  ["without input", { stdin: false }],
  ["with a terminal", { tty: true, stderr: false }],
  ["with one output", { stderr: false }],
  ["whose input ends with its first client", { stdinOnce: true }],
])("one %s is one attach", async (_what, change) => {
  const options = { ...all, ...change };
  const { session, opened } = await attached(options);
  const { stdinOnce: _, ...asked } = options;
  expect(opened.map((each) => each.asked)).toEqual([asked]);
  expect(session).toBe(opened[0]);
});

test("a program's last words come, whatever is heard first", async () => {
  const { session, outputs, input, write } = await apart();
  const said = Promise.all([text(session.stdout!), text(session.stderr!)]);
  write("stderr", "");
  // containerd can't write to it any more.
  session.stdin!.write("more");
  input.end(0);
  await new Promise(setImmediate);
  write("stdout", "bye");
  expect(await said).toEqual(["bye", ""]);
  outputs.end(0);
  expect(await session.exit).toBe(0);
  expect(input.closed).toBe(true);
});

test("the end of the client's input ends the attach", async () => {
  const { session, outputs, input } = await apart();
  const said = text(session.stdout!);
  (outputs.stdout as PassThrough).write("hello");
  await new Promise(setImmediate);
  session.stdin!.end("input");
  input.end(0);
  expect(await session.exit).toBe(0);
  expect(await said).toBe("hello");
  expect(outputs.closed).toBe(true);
});

test("closing it closes both", async () => {
  const { session, outputs, input } = await apart();
  session.close();
  expect([outputs.closed, input.closed]).toEqual([true, true]);
});

test("where the input is refused nothing stays attached", async () => {
  const opened: FakeSession[] = [];
  const attach = openAttach((asked) => {
    if (asked.stdin) return Promise.reject(new Error("away"));
    opened.push(fakeSession(asked));
    return Promise.resolve(opened[0]!);
  }, all);
  await expect(attach).rejects.toThrow("away");
  expect(opened[0]!.closed).toBe(true);
});

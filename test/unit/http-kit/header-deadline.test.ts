import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { HeaderDeadline } from "../../../http-kit/connections/header-deadline.ts";

class FakeSocket extends EventEmitter {
  bytesRead = 0;
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

let now: number;
let deadline: HeaderDeadline;
let socket: FakeSocket;
const real = (): Socket => socket as unknown as Socket;
/** Looks at each quarter of the limit, as the timer does; `bytes` come in each. */
function pass(ms: number, bytes = 0): void {
  for (let passed = 0; passed < ms; passed += 250) {
    now += 250;
    socket.bytesRead += bytes;
    deadline.check();
  }
}

beforeEach(() => {
  now = 0;
  deadline = new HeaderDeadline(1000, () => now);
  socket = new FakeSocket();
  deadline.add(real());
});
afterEach(() => deadline.stop());

test("a first request has its time, whether something comes or not", () => {
  pass(750);
  expect(socket.destroyed).toBe(false);
  pass(250, 10);
  expect(socket.destroyed).toBe(true);
});

test("an answer takes as long as it takes", () => {
  socket.bytesRead = 100;
  const answered = deadline.begin(real())!;
  pass(10_000, 5);
  expect(socket.destroyed).toBe(false);
  answered();
  pass(10_000);
  expect(socket.destroyed).toBe(false);
});

test("the next request's headers have their time from the first byte", () => {
  deadline.begin(real())!();
  pass(5000);
  pass(750, 1);
  expect(socket.destroyed).toBe(false);
  pass(250, 1);
  expect(socket.destroyed).toBe(true);
});

test("an upgraded connection is let alone, an idle one can be closed", () => {
  const other = new FakeSocket();
  deadline.add(other as unknown as Socket);
  deadline.forget(other as unknown as Socket);
  deadline.begin(real())!();
  deadline.closeIdle();
  expect([socket.destroyed, other.destroyed]).toEqual([true, false]);
});

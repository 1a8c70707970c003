import { PassThrough } from "node:stream";
import { Tunnels } from "../../../../apiserver-lite/proxy/tunnels.ts";

test("one user's connections leave places for the next one, and come back", async () => {
  const tunnels = new Tunnels(0, 16);
  const taken: PassThrough[] = [];
  const take = (user: string): void => {
    const socket = new PassThrough();
    tunnels.take(user, socket);
    taken.push(socket);
  };
  const takeAll = (user: string): number => {
    const before = taken.length;
    for (;;)
      try {
        take(user);
      } catch (error) {
        expect(error).toMatchObject({ code: 429 });
        return taken.length - before;
      }
  };
  expect(takeAll("ann")).toBe(8);
  expect(takeAll("bob")).toBe(4);
  expect(takeAll("cleo")).toBe(2);
  expect(takeAll("ann")).toBe(0);
  expect(takeAll("dora")).toBe(1);
  const closed = taken.splice(0).map(
    (socket) =>
      new Promise((resolve) => {
        socket.once("close", resolve);
        socket.destroy();
      }),
  );
  await Promise.all(closed);
  expect(takeAll("bob")).toBe(8);
});

test("a client that has gone holds no place", async () => {
  const tunnels = new Tunnels(0, 2);
  const gone = new PassThrough();
  await new Promise((resolve) => {
    gone.once("close", resolve);
    gone.destroy();
  });
  for (let at = 0; at < 5; at++) tunnels.take("ann", gone);
  expect(() => tunnels.take("ann", new PassThrough())).not.toThrow();
});

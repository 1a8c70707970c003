// Free TCP ports for programs that can't be told port 0. The ports are held open together while they are chosen, so one
// call never gives the same port twice; another process may still take one before it is used.
import * as net from "node:net";

/** `count` different ports that were free on all addresses a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<net.Server>((resolve, reject) => {
          const server = net.createServer();
          server.once("error", reject);
          server.listen(0, () => resolve(server));
        }),
    ),
  );
  const ports = servers.map(
    (server) => (server.address() as net.AddressInfo).port,
  );
  await Promise.all(
    servers.map((server) => new Promise((resolve) => server.close(resolve))),
  );
  return ports;
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!;
}

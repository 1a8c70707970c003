// The ports of all programs follow the files of their certificates and of the authorities that they believe while they serve.
import * as fs from "node:fs";
import * as path from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import { openPort, portPrograms } from "./part-ports.ts";
import { authorityNamed, certificateOf, useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();

interface Greeting {
  readonly client: CertificatePair;
  readonly servername?: string;
  /** Of a front proxy's client. */
  readonly user?: string;
}

/** What a client sees: the name in the certificate, and whether its own is believed. */
function greet(
  port: number,
  { client, servername = "", user }: Greeting,
): Promise<{ name: string; status: string }> {
  const headers = user
    ? `X-Remote-User: ${user}\r\nX-Remote-Group: system:masters\r\n`
    : "";
  return new Promise((resolve, reject) => {
    let peer: PeerCertificate | undefined;
    const socket = connect(
      {
        ...{ port, host: "127.0.0.1", rejectUnauthorized: false, servername },
        ...{ cert: client.certificate, key: client.key },
      },
      () => {
        peer = socket.getPeerCertificate();
        socket.write(
          `GET /metrics HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`,
        );
      },
    );
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () =>
      resolve({ name: String(peer?.subject.CN), status: text.slice(9, 12) }),
    );
  });
}

function filesIn(directory: string): {
  argv: string[];
  file(name: string): string;
  write(name: string, pair: CertificatePair): void;
} {
  const file = (name: string): string => path.join(directory, name);
  return {
    file,
    argv: [
      `--tls-cert-file=${file("s.crt")}`,
      `--tls-private-key-file=${file("s.key")}`,
      `--tls-sni-cert-key=${file("named.crt")},${file("named.key")}:api.example`,
      `--client-ca-file=${file("ca.crt")}`,
    ],
    write(name, { certificate, key }) {
      fs.writeFileSync(file(`${name}.crt`), certificate);
      fs.writeFileSync(file(`${name}.key`), key);
    },
  };
}

const [first, second] = [authorityNamed("first"), authorityNamed("second")];
const admin = certificateOf(first, "admin", ["system:masters"]);
const servedBy = (name: string): CertificatePair =>
  certificateOf(first, name, [], { ipAddresses: ["127.0.0.1"] });

/** Retries, each time after the next look at the files. */
const sees = (
  clock: FakeClock,
  port: number,
  greeting: Greeting,
  expected: { name: string; status: string },
): Promise<boolean> =>
  eventually(async () => {
    await clock.advanceAsync(10_000);
    expect(await greet(port, greeting)).toEqual(expected);
    return true;
  });

describe.each(portPrograms)("orbit %s", (program) => {
  test("uses renewed pairs and another authority, and no damaged file", async () => {
    const directory = directories();
    const { argv, file, write } = filesIn(directory);
    write("s", servedBy("one"));
    write("named", servedBy("named-one"));
    write("ca", first);
    const clock = new FakeClock(Date.now());
    const port = await openPort(
      ...([program, directory, argv] as const),
      ...([undefined, undefined, clock] as const),
    );
    open.push(port);
    const asks = (
      greeting: Omit<Greeting, "client">,
      name: string,
      status: string,
    ): Promise<boolean> =>
      sees(clock, port.port, { client: admin, ...greeting }, { name, status });
    await asks({}, "one", "200");
    await asks({ servername: "api.example" }, "named-one", "200");
    fs.writeFileSync(file("s.crt"), "damaged");
    await asks({}, "one", "200");
    write("s", servedBy("two"));
    await asks({}, "two", "200");
    write("named", servedBy("named-two"));
    await asks({ servername: "api.example" }, "named-two", "200");
    write("ca", second);
    await asks({}, "two", "401");
  });
});

test.each(["apiserver", "controller-manager"] as const)(
  "orbit %s believes the front proxies of another authority",
  async (program) => {
    const directory = directories();
    const { argv, file, write } = filesIn(directory);
    for (const name of ["s", "named"]) write(name, servedBy("one"));
    write("ca", authorityNamed("clients"));
    write("proxies", first);
    const clock = new FakeClock(Date.now());
    const port = await openPort(
      program,
      directory,
      [...argv, `--requestheader-client-ca-file=${file("proxies.crt")}`],
      ...([undefined, undefined, clock] as const),
    );
    open.push(port);
    const asProxy = (signer: CertificatePair): Greeting => ({
      client: certificateOf(signer, "proxy"),
      user: "jane",
    });
    const { port: at } = port;
    await sees(clock, at, asProxy(first), { name: "one", status: "200" });
    await sees(clock, at, asProxy(second), { name: "one", status: "401" });
    write("proxies", second);
    await sees(clock, at, asProxy(second), { name: "one", status: "200" });
    await sees(clock, at, asProxy(first), { name: "one", status: "401" });
  },
);

// One end of test traffic, run inside a network namespace: it serves ports and opens connections as its standard input
// says, one JSON command a line, and answers each with one line. Servers answer with their name and the client's address.
import dgram from "node:dgram";
import net from "node:net";
import { createInterface } from "node:readline";

const name = process.argv[2];
const reply = (id, result) =>
  process.stdout.write(`${JSON.stringify({ id, ...result })}\n`);
const plain = (address) => address?.replace(/^::ffff:/, "");

function serve({ protocol, port, host = "::" }) {
  if (protocol === "udp") {
    const socket = dgram.createSocket("udp6");
    socket.on("message", (_, from) =>
      socket.send(`${name} ${plain(from.address)}`, from.port, from.address),
    );
    return new Promise((resolve) => socket.bind(port, host, resolve));
  }
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end(`${name} ${plain(socket.remoteAddress)}`);
  });
  return new Promise((resolve) => server.listen(port, host, resolve));
}

function connect({ protocol, host, port, waitMs, from, fromPort }) {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end("timeout"), waitMs);
    let end = () => undefined;
    if (protocol === "udp") {
      const socket = dgram.createSocket(host.includes(":") ? "udp6" : "udp4");
      end = (text) => {
        clearTimeout(timer);
        socket.removeAllListeners();
        socket.on("error", () => undefined);
        socket.close();
        resolve(text);
      };
      socket.on("error", ({ code }) => end(code));
      socket.on("message", (bytes) => end(bytes.toString()));
      socket.bind(fromPort ?? 0, from, () =>
        socket.connect(port, host, (error) =>
          error ? end(error.code) : socket.send("x"),
        ),
      );
      return;
    }
    const socket = net.connect({
      host,
      port,
      ...(from ? { localAddress: from } : {}),
    });
    let text = "";
    end = (result) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    socket.on("data", (chunk) => (text += chunk));
    socket.on("end", () => end(text));
    socket.on("error", ({ code }) => end(code));
  });
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, verb, ...command } = JSON.parse(line);
    const done = verb === "serve" ? serve(command) : connect(command);
    done.then(
      (result) => reply(id, { result: result ?? "" }),
      (error) => reply(id, { result: error.code ?? error.message }),
    );
  })
  .on("close", () => process.exit(0));

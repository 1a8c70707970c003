// One end of test traffic, run inside a network namespace: it serves ports and opens connections as its standard input
// says, one JSON command a line, and answers each with one line. Servers answer with their name and the client's address.
import dgram from "node:dgram";
import net from "node:net";
import { createInterface } from "node:readline";

const name = process.argv[2];
const reply = (id, result) =>
  process.stdout.write(`${JSON.stringify({ id, ...result })}\n`);
/** Of clients of UDP servers. */
const heard = [];
/** The ports they were sent to. */
const heardAt = [];
/** Connections that stay open: how much came on each. */
const opened = [];
const plain = (address) => address?.replace(/^::ffff:/, "");

function serve({ protocol, port, host = "::", echo }) {
  if (protocol === "udp") {
    const socket = dgram.createSocket("udp6");
    socket.on("message", (bytes, from) => {
      heard.push(plain(from.address));
      heardAt.push(port);
      const answer = () =>
        socket.send(`${name} ${plain(from.address)}`, from.port, from.address);
      answer();
      // A client that says so is sent more for as long as the server lives.
      if (bytes.toString() === "more") setInterval(answer, 20);
    });
    return new Promise((resolve) => socket.bind(port, host, resolve));
  }
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    if (!echo) return socket.end(`${name} ${plain(socket.remoteAddress)}`);
    socket.on("data", (bytes) => socket.write(bytes));
  });
  return new Promise((resolve) => server.listen(port, host, resolve));
}

function connect({ protocol, host, port, waitMs, from, fromPort, bytes = 1 }) {
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
          error ? end(error.code) : socket.send("x".repeat(bytes)),
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

/** A connection that stays open; the number that names it. */
function open({ protocol, host, port }) {
  const connection = { count: 0, send: () => undefined };
  opened.push(connection);
  const number = String(opened.length - 1);
  const count = () => void connection.count++;
  return new Promise((resolve, reject) => {
    if (protocol === "udp") {
      const socket = dgram.createSocket("udp4");
      socket.on("error", () => undefined);
      socket.on("message", count);
      socket.connect(port, host, () => {
        socket.send("more");
        resolve(number);
      });
      return;
    }
    const socket = net.connect({ host, port }, () => resolve(number));
    connection.send = () => socket.write("x");
    socket.on("data", count);
    socket.on("error", reject);
  });
}

const verbs = {
  serve,
  connect,
  open,
  heard: async () => heard.join(),
  heardAt: async () => heardAt.splice(0).join(),
  /** How much came so far; TCP sends more after that. */
  received: async ({ connection }) => {
    const { count, send } = opened[connection];
    send();
    return String(count);
  },
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, verb, ...command } = JSON.parse(line);
    verbs[verb](command).then(
      (result) => reply(id, { result: result ?? "" }),
      (error) => reply(id, { result: error.code ?? error.message }),
    );
  })
  .on("close", () => process.exit(0));

// One HTTP/1.1 keep-alive connection, written by hand so that the client costs as little as possible of the machine it
// shares with the server. Handles Content-Length and chunked bodies; one request at a time. A connection that was not used
// for a while is opened anew: servers close those (Orbit after 90 s), perhaps just when the next request is sent.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

const maxIdleMs = 30_000;

export interface Target {
  readonly url: URL;
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly token?: string;
  readonly insecure: boolean;
}

export interface Answer {
  status: number;
  /** Bytes of the body on the wire. */
  bytes: number;
  /** Only when asked for. */
  body: string;
}

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
  keepBody: boolean;
  onChunk: ((chunk: Buffer) => void) | undefined;
}

export class Connection {
  readonly #target: Target;
  #socket: Socket | undefined;
  #opening: Promise<void> | undefined;
  #pending: Pending | undefined;
  #buffer: Buffer = Buffer.alloc(0);
  #head: { status: number; length: number; chunked: boolean } | undefined;
  #received = 0;
  #parts: Buffer[] = [];
  #usedMs = 0;

  constructor(target: Target) {
    this.#target = target;
  }

  async request(
    method: string,
    path: string,
    body?: string,
    headers: Record<string, string> = {},
    options: { keepBody?: boolean; onChunk?: (chunk: Buffer) => void } = {},
  ): Promise<Answer> {
    const nowMs = performance.now();
    if (nowMs - this.#usedMs > maxIdleMs && !this.#pending) this.close();
    this.#usedMs = nowMs;
    await (this.#opening ??= this.#open());
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${this.#target.url.host}`,
    ];
    if (this.#target.token)
      lines.push(`Authorization: Bearer ${this.#target.token}`);
    for (const [name, value] of Object.entries(headers))
      lines.push(`${name}: ${value}`);
    if (body !== undefined)
      lines.push(
        "Content-Type: application/json",
        `Content-Length: ${Buffer.byteLength(body)}`,
      );
    return new Promise<Answer>((resolve, reject) => {
      this.#pending = {
        resolve,
        reject,
        keepBody: options.keepBody ?? false,
        onChunk: options.onChunk,
      };
      this.#socket!.write(`${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
    });
  }

  close(): void {
    this.#pending = undefined;
    this.#opening = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Promise<void> {
    const { url, ca, cert, key, insecure } = this.#target;
    const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
    return new Promise((resolve, reject) => {
      const socket =
        url.protocol === "https:"
          ? connectTls(
              {
                host: url.hostname,
                port,
                ca,
                cert,
                key,
                rejectUnauthorized: !insecure,
                ALPNProtocols: ["http/1.1"],
              },
              resolve,
            )
          : connectTcp(port, url.hostname, resolve);
      socket.setNoDelay(true);
      socket.on("data", (data: Buffer) => this.#receive(data));
      const fail = (error: Error): void => {
        reject(error);
        if (this.#socket !== socket) return;
        this.#opening = undefined;
        this.#pending?.reject(error);
        this.#pending = undefined;
      };
      socket.on("error", fail);
      socket.on("close", () => fail(new Error("connection closed")));
      this.#socket = socket;
    });
  }

  #receive(data: Buffer): void {
    this.#buffer =
      this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data]);
    if (!this.#head && !this.#readHead()) return;
    if (this.#head!.chunked) this.#readChunks();
    else this.#readFixed();
  }

  #readHead(): boolean {
    const end = this.#buffer.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const text = this.#buffer.toString("latin1", 0, end).toLowerCase();
    const length = /\r\ncontent-length: (\d+)/.exec(text);
    this.#head = {
      status: Number(text.slice(9, 12)),
      length: length ? Number(length[1]) : 0,
      chunked: text.includes("transfer-encoding: chunked"),
    };
    this.#buffer = this.#buffer.subarray(end + 4);
    this.#received = 0;
    this.#parts = [];
    return true;
  }

  #readFixed(): void {
    const wanted = this.#head!.length - this.#received;
    const part = this.#buffer.subarray(0, wanted);
    this.#take(part);
    this.#buffer = this.#buffer.subarray(part.length);
    if (this.#received >= this.#head!.length) this.#finish();
  }

  #readChunks(): void {
    for (;;) {
      const lineEnd = this.#buffer.indexOf("\r\n");
      if (lineEnd < 0) return;
      const size = Number.parseInt(
        this.#buffer.toString("latin1", 0, lineEnd),
        16,
      );
      if (this.#buffer.length < lineEnd + 2 + size + 2) return;
      if (size > 0)
        this.#take(this.#buffer.subarray(lineEnd + 2, lineEnd + 2 + size));
      this.#buffer = this.#buffer.subarray(lineEnd + 2 + size + 2);
      if (size === 0) return this.#finish();
    }
  }

  #take(part: Buffer): void {
    this.#received += part.length;
    if (this.#pending?.keepBody) this.#parts.push(part);
    this.#pending?.onChunk?.(part);
  }

  #finish(): void {
    const answer = {
      status: this.#head!.status,
      bytes: this.#received,
      body: Buffer.concat(this.#parts).toString(),
    };
    const pending = this.#pending;
    this.#head = undefined;
    this.#pending = undefined;
    this.#usedMs = performance.now();
    pending?.resolve(answer);
  }
}

// What the channel protocols need of a WebSocket; the server makes it of `ws`, a client of whatever it has.

export interface MessageSocket {
  /** `done` is called when the message left for the network: the sender waits for it. */
  send(message: Buffer | string, done: (error?: Error | null) => void): void;
  onMessage(listener: (message: Buffer) => void): void;
  onClose(listener: () => void): void;
  /** Stops and continues the delivery of messages. */
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
}

// The WebSocket sub-protocols of exec, attach and port-forward: each message is a channel number and its bytes.
//   channel.k8s.io            binary: first byte is the number        base64.channel.k8s.io: first character, base64 after
//   v4.*                      the error channel carries a Status object
//   v5.channel.k8s.io         [255, n] closes channel n (half-closes stdin)
// Exec channels: 0 stdin, 1 stdout, 2 stderr, 3 error, 4 resize (`{"Width":80,"Height":24}`).
import type { TerminalDimensions } from "../contracts.ts";

export interface ChannelProtocol {
  readonly name: string;
  readonly base64: boolean;
  /** The error channel carries a Status object, not text. */
  readonly statusObject: boolean;
  /** `[255, n]` closes a channel. */
  readonly closeMessage: boolean;
}

export const channels = {
  stdin: 0,
  stdout: 1,
  stderr: 2,
  error: 3,
  resize: 4,
} as const;
export const closeChannel = 255;

function protocol(
  name: string,
  version: number,
  base64: boolean,
): ChannelProtocol {
  return {
    name,
    base64,
    statusObject: version >= 4,
    closeMessage: version >= 5,
  };
}

const remoteCommandProtocols: readonly ChannelProtocol[] = [
  protocol("v5.channel.k8s.io", 5, false),
  protocol("v4.channel.k8s.io", 4, false),
  protocol("v4.base64.channel.k8s.io", 4, true),
  protocol("channel.k8s.io", 1, false),
  protocol("base64.channel.k8s.io", 1, true),
];
const portForwardProtocols = remoteCommandProtocols.filter(({ name }) =>
  name.startsWith("v4."),
);

/** The name under which SPDY bytes travel in binary messages. `ws` does not take it: it holds a slash. */
export const portForwardTunnelProtocol = "SPDY/3.1+portforward.k8s.io";

/** Names in a Sec-WebSocket-Protocol or X-Stream-Protocol-Version header (several headers come joined by commas). */
export function offeredProtocols(
  header: string | readonly string[] | undefined,
): string[] {
  const text = Array.isArray(header)
    ? header.join(",")
    : ((header as string | undefined) ?? "");
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The client's first choice that is known; without an offer the unnamed binary protocol; undefined: none fits. */
export function chooseChannelProtocol(
  offered: readonly string[],
  what: "remote-command" | "port-forward",
): ChannelProtocol | undefined {
  const known =
    what === "remote-command" ? remoteCommandProtocols : portForwardProtocols;
  if (offered.length === 0)
    return protocol("", what === "remote-command" ? 1 : 4, false);
  for (const name of offered) {
    const found = known.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** SPDY stream protocols of exec and attach, newest first. */
export const remoteCommandStreamProtocols = [
  "v4.channel.k8s.io",
  "v3.channel.k8s.io",
  "v2.channel.k8s.io",
  "channel.k8s.io",
] as const;
export const portForwardStreamProtocol = "portforward.k8s.io";

/** The message for a channel: bytes of a binary or text of a text message. */
export function encodeMessage(
  { base64 }: ChannelProtocol,
  channel: number,
  data: Buffer,
): Buffer | string {
  if (base64) return String(channel) + data.toString("base64");
  const message = Buffer.allocUnsafe(data.length + 1);
  message[0] = channel;
  data.copy(message, 1);
  return message;
}

/** undefined for an empty or undecodable message. */
export function decodeMessage(
  { base64 }: ChannelProtocol,
  message: Buffer,
): { channel: number; data: Buffer } | undefined {
  if (message.length === 0) return undefined;
  if (!base64) return { channel: message[0]!, data: message.subarray(1) };
  const channel = message[0]! - 0x30;
  if (channel < 0 || channel > 9) return undefined;
  return {
    channel,
    data: Buffer.from(message.toString("latin1", 1), "base64"),
  };
}

/** Blanks included. */
const maxSizeLength = 1024;

/** `{"Width":80,"Height":24}`; undefined for anything else, or a size no terminal has. */
export function parseTerminalSize(
  text: string,
): TerminalDimensions | undefined {
  if (text.length > maxSizeLength) return undefined;
  try {
    const value = JSON.parse(text) as {
      Width?: unknown;
      Height?: unknown;
    } | null;
    const { Width: width, Height: height } = value ?? {};
    if (!isTerminalDimension(width) || !isTerminalDimension(height))
      return undefined;
    return { width, height };
  } catch {
    return undefined;
  }
}

function isTerminalDimension(value: unknown): value is number {
  return (
    typeof value === "number" &&
    Number.isInteger(value) &&
    value >= 0 &&
    value <= 0xffff
  );
}

export function formatTerminalSize({
  width,
  height,
}: TerminalDimensions): string {
  return JSON.stringify({ Width: width, Height: height });
}

// Exec, attach and port-forward over the one-minute, one-time URLs of containerd's streaming server.
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import {
  RuntimeError,
  type StreamOptions,
  type StreamSession,
} from "../runtime.ts";

export function openExecStream(
  _url: string,
  _options: StreamOptions,
  _logger: Logger,
): Promise<StreamSession> {
  return Promise.reject(
    new RuntimeError("unsupported", "streaming is not there yet"),
  );
}

export function openPortForward(_url: string, _port: number): Promise<Duplex> {
  return Promise.reject(
    new RuntimeError("unsupported", "streaming is not there yet"),
  );
}

// grpc.health.v1.Health/Check without generated code: a request of one string field, an answer of one enum field.
import type { ProbeOutcome } from "./probe-outcome.ts";

const serving = 1;
const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

export async function checkGrpcHealth(
  host: string,
  port: number,
  service: string,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const { Client, credentials, status: codes } = await import("@grpc/grpc-js");
  const address = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.primary_user_agent": "kube-probe/1.32",
  });
  return await new Promise<ProbeOutcome>((resolve) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      encodeRequest,
      decodeStatus,
      service,
      { deadline: Date.now() + timeoutMs },
      (error, status) => {
        client.close();
        if (!error) {
          if (status === serving)
            resolve({ verdict: "success", output: "service healthy" });
          else
            resolve({
              verdict: "failure",
              output: `service unhealthy (responded with "${statusNames[status ?? 0] ?? status}")`,
            });
          return;
        }
        const why: Record<number, string> = {
          [codes.UNIMPLEMENTED]: `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`,
          [codes.DEADLINE_EXCEEDED]: `timeout: health rpc did not complete within ${timeoutMs / 1000}s`,
        };
        resolve({
          verdict: "failure",
          output:
            why[error.code] ??
            `error: health rpc probe failed: ${error.details}`,
        });
      },
    );
  });
}

/** Field 1, length-delimited. */
function encodeRequest(service: string): Buffer {
  const text = Buffer.from(service);
  if (text.length === 0) return Buffer.alloc(0);
  const length: number[] = [];
  for (let rest = text.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      length.push(rest);
      break;
    }
    length.push((rest & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([0x0a, ...length]), text]);
}

/** Field 1, varint; an absent field is 0. */
function decodeStatus(bytes: Buffer): number {
  return bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0;
}

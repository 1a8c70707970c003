// A WebSocket of orbitctl: to the server of the connection, with its credentials and certificates.
import type { WebSocket } from "ws";
import type { CtlHttp } from "../http.ts";
import { checkServerNames } from "../../../api/pki/server-names.ts";

/** @param path with its query */
export async function openWebSocket(
  http: CtlHttp,
  path: string,
  protocols: readonly string[],
): Promise<WebSocket> {
  const { WebSocket: Socket } = await import("ws");
  const { ca, cert, key, serverName, insecureSkipVerify } =
    http.connection.tls ?? {};
  const scheme = http.base.protocol === "https:" ? "wss" : "ws";
  return new Socket(
    `${scheme}://${http.base.host}${http.path(path)}`,
    [...protocols],
    {
      headers: (await http.headers()) as Record<string, string>,
      perMessageDeflate: false,
      ...(ca ? { ca } : {}),
      ...(cert ? { cert } : {}),
      ...(key ? { key } : {}),
      ...(serverName ? { servername: serverName } : {}),
      ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
      // The types of ws have a boolean here, where Node wants an error.
      checkServerIdentity: checkServerNames as never,
    },
  );
}

/** Calls back with the ApiError of a server that answers with an HTTP response instead. */
export function onRefusal(
  socket: WebSocket,
  refused: (error: Error) => void,
): void {
  socket.on("unexpected-response", (_request, response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () => {
      void import("../../../client/content/status-error.ts").then(
        ({ statusError }) =>
          refused(
            statusError(
              response.statusCode ?? 500,
              Buffer.concat(chunks).toString(),
            ),
          ),
      );
    });
  });
}

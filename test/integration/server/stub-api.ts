// As much of an API server as kubectl needs for exec, attach, port-forward and logs of one pod: the pod, discovery, and
// the pod's subresources passed on, byte by byte, to a node agent's port.
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import { connect as connectTls } from "node:tls";
import { pod } from "./scripted-view.ts";

export interface StubApi {
  url: string;
  /** Requests for streams, as `METHOD protocol`. */
  upgrades: string[];
  close(): void;
}

const resources = {
  kind: "APIResourceList",
  groupVersion: "v1",
  resources: [
    {
      name: "pods",
      singularName: "pod",
      namespaced: true,
      kind: "Pod",
      verbs: ["get", "list"],
      shortNames: ["po"],
    },
    {
      name: "pods/exec",
      singularName: "",
      namespaced: true,
      kind: "PodExecOptions",
      verbs: ["create", "get"],
    },
  ],
};

function agentPath(target: string): string | undefined {
  const url = new URL(target, "http://stub");
  const match =
    /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/(exec|attach|portforward|log)$/.exec(
      url.pathname,
    );
  if (match === null) return undefined;
  const [, namespace, name, subresource] = match;
  if (subresource === "portforward")
    return `/portForward/${namespace}/${name}${url.search}`;
  const container = url.searchParams.get("container") ?? "c";
  const path = subresource === "log" ? "containerLogs" : subresource;
  return `/${path}/${namespace}/${name}/${container}${url.search}`;
}

export async function startStubApi(
  agentPort: number,
  token: string,
): Promise<StubApi> {
  const upgrades: string[] = [];
  const dial = (): ReturnType<typeof connectTls> =>
    connectTls({
      port: agentPort,
      host: "127.0.0.1",
      rejectUnauthorized: false,
    });

  const head = (request: http.IncomingMessage, path: string): string => {
    const lines = [
      `${request.method} ${path} HTTP/1.1`,
      `Authorization: Bearer ${token}`,
    ];
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      if (request.rawHeaders[at]!.toLowerCase() !== "authorization")
        lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    return `${lines.join("\r\n")}\r\n\r\n`;
  };

  const server = http.createServer((request, response) => {
    const path = new URL(request.url!, "http://stub").pathname;
    const json = (value: unknown, code = 200): void => {
      response.writeHead(code, { "Content-Type": "application/json" });
      response.end(JSON.stringify(value));
    };
    const forwarded = agentPath(request.url!);
    if (forwarded !== undefined) {
      const socket = dial();
      request.headers.connection = "close";
      socket.write(
        head(request, forwarded).replace(
          "\r\n\r\n",
          "\r\nConnection: close\r\n\r\n",
        ),
      );
      const raw = response.socket!;
      socket.pipe(raw);
      return;
    }
    if (path === "/api") json({ kind: "APIVersions", versions: ["v1"] });
    else if (path === "/apis") json({ kind: "APIGroupList", groups: [] });
    else if (path === "/api/v1") json(resources);
    else if (path === "/api/v1/namespaces/default/pods/p") json(pod);
    else
      json(
        {
          kind: "Status",
          apiVersion: "v1",
          status: "Failure",
          reason: "NotFound",
          code: 404,
          message: "not found",
        },
        404,
      );
  });
  server.on("upgrade", (request: http.IncomingMessage, client, first) => {
    upgrades.push(
      `${request.method} ${request.headers["sec-websocket-protocol"] ?? request.headers.upgrade}`,
    );
    const socket = dial();
    socket.write(head(request, agentPath(request.url!)!));
    socket.write(first);
    socket.pipe(client).pipe(socket);
    for (const end of [socket, client]) end.on("error", () => undefined);
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve()),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    upgrades,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// A registry on 127.0.0.1 with one image, busybox, for everybody or for those with the right user name and password.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { busyboxImageTar } from "./busybox-image.ts";

export interface ImageRegistry {
  /** host:port */
  readonly address: string;
  /** Full name of the image. */
  readonly image: string;
  /** What requests were answered. */
  readonly codes: number[];
  close(): void;
}

/** `directory`: an empty one, for the image's parts. */
export async function startImageRegistry(
  directory: string,
  user?: { name: string; password: string },
): Promise<ImageRegistry> {
  execFileSync("tar", ["-xf", await busyboxImageTar(), "-C", directory]);
  const index = JSON.parse(
    fs.readFileSync(path.join(directory, "index.json"), "utf8"),
  ) as { manifests: { digest: string; mediaType: string }[] };
  const { digest, mediaType } = index.manifests[0]!;
  const right =
    user &&
    `Basic ${Buffer.from(`${user.name}:${user.password}`).toString("base64")}`;
  const codes: number[] = [];
  const server = http.createServer((request, response) => {
    const answer = (code: number, headers = {}, body?: Buffer): void => {
      codes.push(code);
      response.writeHead(code, headers);
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (right && request.headers.authorization !== right)
      return answer(401, { "www-authenticate": 'Basic realm="registry"' });
    const [, kind, reference] =
      /^\/v2\/team\/busybox\/(manifests|blobs)\/([\w:.]+)$/.exec(
        request.url?.split("?")[0] ?? "",
      ) ?? [];
    if (!reference) return answer(request.url === "/v2/" ? 200 : 404);
    const name = reference === "1" ? digest : reference;
    const file = path.join(directory, "blobs", ...name.split(":"));
    if (!fs.existsSync(file)) return answer(404);
    const body = fs.readFileSync(file);
    answer(
      200,
      {
        "content-type":
          kind === "manifests" ? mediaType : "application/octet-stream",
        "content-length": body.length,
        "docker-content-digest": name,
      },
      body,
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    image: `${address}/team/busybox:1`,
    codes,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// kubectl reads the OpenAPI documents from a server that has nothing else but discovery.
import { parseAccept } from "../../../apiserver-lite/serving/negotiation.ts";
import { execFile } from "node:child_process";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { AddressInfo } from "node:net";
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { createOpenApiService } from "../../../api/openapi/service.ts";

const run = promisify(execFile);
const catalogue = builtinCatalogue();
const openApi = createOpenApiService(catalogue);
const asked: string[] = [];
let server: Server;
let home: string;

function resourceList(group: string, version: string): object {
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: catalogue
      .resources(group, version)
      .map(({ resource, singular, namespaced, kind, verbs, shortNames }) => ({
        name: resource,
        singularName: singular,
        namespaced,
        kind,
        verbs,
        shortNames,
      })),
  };
}

function discovery(path: string): object | undefined {
  if (path === "/api")
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [],
    };
  if (path === "/apis") {
    const versions = [{ groupVersion: "apps/v1", version: "v1" }];
    const groups = [{ name: "apps", versions, preferredVersion: versions[0] }];
    return { kind: "APIGroupList", apiVersion: "v1", groups };
  }
  if (path === "/api/v1") return resourceList("", "v1");
  if (path === "/apis/apps/v1") return resourceList("apps", "v1");
  return undefined;
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "orbit-openapi-"));
  const handle = async (
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const url = new URL(request.url!, "http://localhost");
    asked.push(`${url.pathname} ${request.headers.accept}`);
    const answer = await openApi.answer(url.pathname, {
      ...(request.headers.accept
        ? { accepts: parseAccept(request.headers.accept) }
        : {}),
      ...(url.searchParams.has("hash")
        ? { hash: url.searchParams.get("hash")! }
        : {}),
    });
    if (answer)
      return void response
        .writeHead(answer.status, answer.headers)
        .end(Buffer.concat(answer.body));
    const found = discovery(url.pathname);
    response.writeHead(found ? 200 : 404, {
      "Content-Type": "application/json",
    });
    response.end(
      JSON.stringify(
        found ?? {
          kind: "Status",
          apiVersion: "v1",
          code: 404,
          reason: "NotFound",
        },
      ),
    );
  };
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(home, { recursive: true });
});

async function kubectl(...args: string[]): Promise<string> {
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { stdout } = await run(
    "kubectl",
    ["--server", address, "--cache-dir", home, ...args],
    {
      env: { ...process.env, HOME: home, KUBECONFIG: "/dev/null" },
      timeout: 90_000,
    },
  );
  return stdout;
}

test("explain reads version 3", async () => {
  const text = await kubectl("explain", "deployment.spec.strategy");
  expect(text).toContain("GROUP:      apps");
  expect(text).toContain("FIELD: strategy <DeploymentStrategy>");
  expect(text).toMatch(/rollingUpdate\s+<RollingUpdateDeployment>/);
});

test("explain --recursive", async () => {
  const text = await kubectl("explain", "pods", "--recursive");
  expect(text).toMatch(/containers\s+<\[\]Container> -required-/);
  expect(text).toMatch(/limits\s+<map\[string\]Quantity>/);
});

test("explain reads version 2 in its protobuf form", async () => {
  const text = await kubectl(
    "explain",
    "pods.spec.containers",
    "--output",
    "plaintext-openapiv2",
  );
  expect(text).toMatch(/RESOURCE: containers <\[\]Object>/);
  expect(text).toMatch(/imagePullPolicy\s+<string>/);
  expect(
    asked.some(
      (line) => line.startsWith("/openapi/v2 ") && line.includes("protobuf"),
    ),
  ).toBe(true);
});

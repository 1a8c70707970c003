// Tokens of controllers' accounts: requested once for all who wait, again before their time is over or after a refusal.
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { accountClients } from "../../../cli/parts/controllers/account-clients.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { silent } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const base = "/api/v1/namespaces/kube-system/serviceaccounts";
const clock = new FakeClock();
const environment = { clock, logger: silent };
let server: Server;
let manager: Client;
let own: Client;
/** Requests beside those for tokens: who asked, and for what. */
let asked: string[];
let accounts: Set<string>;
let tokens: number;
let accepted: () => string;
let tokensFail: boolean;

beforeEach(async () => {
  [asked, accounts, tokens, tokensFail] = [[], new Set(), 0, false];
  accepted = () => `token-${tokens}`;
  server = createServer((request, response) => {
    const { method, url = "", headers } = request;
    const who = headers.authorization ?? "nobody";
    const answer = (code: number, body: object): void => {
      response.writeHead(code, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const status = (code: number, reason: string): void =>
      answer(code, { kind: "Status", status: "Failure", code, reason });
    request.resume();
    if (url.startsWith(base) && who === "Bearer manager") {
      const name = url.slice(base.length + 1).split("/")[0]!;
      if (url.endsWith("/token")) {
        if (tokensFail) return status(403, "Forbidden");
        const expires = new Date(clock.now() + 3_600_000).toISOString();
        answer(201, {
          kind: "TokenRequest",
          status: { token: `token-${++tokens}`, expirationTimestamp: expires },
        });
      } else if (method === "POST") {
        accounts.add("job-controller");
        asked.push("created");
        answer(201, { metadata: { name: "job-controller" } });
      } else if (accounts.has(name)) answer(200, { metadata: { name } });
      else status(404, "NotFound");
      return;
    }
    asked.push(`${who.replace("Bearer ", "")} ${url}`);
    if (who !== `Bearer ${accepted()}`) return status(401, "Unauthorized");
    answer(200, {});
  });
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve()),
  );
  const connection = {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "manager",
    impersonate: { user: "someone" },
  };
  manager = createClient(createHttpTransport(connection), environment);
  own = accountClients(manager, connection, environment)("job-controller");
});
afterEach(async () => {
  await own.close();
  await manager.close();
  await new Promise((resolve) => server.close(resolve));
});

const ask = (path = "/x") => own.raw("GET", path);

test("an account is made, and one token serves all until a fifth of its time is left", async () => {
  await Promise.all([ask("/a"), ask("/b"), ask("/c")]);
  expect(tokens).toBe(1);
  expect(asked.sort()).toEqual([
    "created",
    "token-1 /a",
    "token-1 /b",
    "token-1 /c",
  ]);
  clock.advance(0.79 * 3_600_000);
  await ask();
  expect(tokens).toBe(1);
  clock.advance(0.02 * 3_600_000);
  await ask();
  expect(tokens).toBe(2);
});

test("a refused token is replaced once; the account of one that was deleted is made again", async () => {
  await ask();
  accounts.clear();
  accepted = () => "token-2";
  await ask();
  expect(asked).toEqual([
    "created",
    "token-1 /x",
    "token-1 /x",
    "created",
    "token-2 /x",
  ]);
  accepted = () => "none";
  await expect(ask()).rejects.toMatchObject({ code: 401 });
  expect(tokens).toBe(3);
});

test("without a token nothing is asked with the manager's rights", async () => {
  tokensFail = true;
  await expect(ask()).rejects.toMatchObject({ code: 403 });
  expect(asked).toEqual(["created"]);
  tokensFail = false;
  await ask();
  expect(asked).toEqual(["created", "token-1 /x"]);
});

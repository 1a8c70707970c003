import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentialsFor } from "../../../../apiserver-lite/webhook-client/credentials.ts";
import { parseKubeconfigUsers } from "../../../../client/kubeconfig.ts";

const text = `
kind: Config
users:
- {name: "hook.ns.svc:8443", user: {token: exact}}
- {name: "hook.ns.svc", user: {token: usual-port}}
- {name: "*.ns.svc", user: {token: namespace}}
- {name: "*.svc", user: {token: services}}
- {name: "*", user: {token: all}}
`;

test.each([
  ["hook.ns.svc:8443", "exact"],
  ["hook.ns.svc:443", "usual-port"],
  ["other.ns.svc:443", "namespace"],
  ["other.elsewhere.svc:443", "services"],
  // Patterns without a port are for the usual port only.
  ["other.ns.svc:8443", "all"],
  ["example.com:443", "all"],
])("%s is shown the token %s", async (place, token) => {
  const users = await parseKubeconfigUsers(text);
  expect(credentialsFor(users, place)?.token).toBe(token);
});

test("without a user for the place, the current context's is shown, or none", async () => {
  const users = `
contexts: [{name: c, context: {user: me, cluster: any}}]
users: [{name: me, user: {username: u, password: p}}]
`;
  const current = await parseKubeconfigUsers(`current-context: c\n${users}`);
  expect(credentialsFor(current, "example.com:443")).toMatchObject({
    username: "u",
    password: "p",
  });
  const none = await parseKubeconfigUsers(users);
  expect(credentialsFor(none, "example.com:443")).toBeUndefined();
});

test("token files are read; what can't be read or is not supported is refused by name", async () => {
  const directory = await mkdtemp(join(tmpdir(), "orbit-webhook-"));
  try {
    await writeFile(join(directory, "token"), "from-file\n");
    const user = (fields: string): string =>
      `users: [{name: "*", user: {${fields}}}]`;
    const read = await parseKubeconfigUsers(
      user("tokenFile: token"),
      directory,
    );
    expect(credentialsFor(read, "a:1")?.token).toBe("from-file");
    for (const [fields, message] of [
      ["tokenFile: nothing", /users \*: tokenFile: cannot read/],
      ["exec: {command: x}", /exec is not supported/],
      ["as: root", /users \*: as is not supported here/],
    ] as const)
      await expect(
        parseKubeconfigUsers(user(fields), directory),
      ).rejects.toThrow(message);
  } finally {
    await rm(directory, { recursive: true });
  }
});

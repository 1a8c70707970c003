import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadKubeconfig, parseKubeconfig } from "../../../client/kubeconfig.ts";

const base = `
current-context: c
contexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]
clusters: [{name: k, cluster: {server: "https://h:1", certificate-authority-data: ${Buffer.from("CA").toString("base64")}}}]
users: [{name: u, user: {token: secret, tokenFile: t}}]
`;

test("cluster, user and namespace of the current context", async () => {
  expect(await parseKubeconfig(base, "/d")).toEqual({
    server: "https://h:1",
    tls: { ca: "CA" },
    token: "secret",
    tokenFile: "/d/t",
    namespace: "n",
  });
});

test.each([
  ["current-context: x", /context "x" does not exist/],
  ["contexts: 1", /contexts: must be a list/],
  ["contexts: [{context: {}}]", /contexts\[0\]\.name: required/],
  ["a: [", /kubeconfig/],
  ["- 1", /must be a mapping/],
  ["", /current-context is not set/],
  [
    base.replace("token: secret", "exec: {command: x}"),
    /exec is not supported/,
  ],
  [base.replace('server: "https://h:1", ', ""), /server: required/],
])("bad text %# is refused with its place", async (text, message) => {
  await expect(parseKubeconfig(text)).rejects.toThrow(message);
});

test("files of KUBECONFIG are merged, the first wins; missing ones are passed over", async () => {
  const directory = await mkdtemp(join(tmpdir(), "kubeconfig-"));
  try {
    const one = join(directory, "one");
    const two = join(directory, "two");
    await writeFile(one, "current-context: c\n");
    await writeFile(
      two,
      base.replace("current-context: c", "current-context: z"),
    );
    const KUBECONFIG = `${join(directory, "none")}:${one}:${two}`;
    const found = await loadKubeconfig({}, { KUBECONFIG });
    expect(found.server).toBe("https://h:1");
    await expect(
      loadKubeconfig({ path: join(directory, "none") }),
    ).rejects.toThrow("cannot be read");
  } finally {
    await rm(directory, { recursive: true });
  }
});

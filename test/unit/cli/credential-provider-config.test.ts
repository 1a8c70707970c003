// --image-credential-provider-config: what it gives the agent, and that every problem names file, line and field.
import * as fs from "node:fs";
import * as path from "node:path";
import { agentOptions } from "../../../cli/options/agent.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { credentialProviders } from "../../../cli/parts/agent/credential-providers.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();
const head =
  "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n";
const good = `${head}providers:
- name: ecr
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  matchImages: ["*.dkr.ecr.*.amazonaws.com", "host:5000/team"]
  defaultCacheDuration: 12h
  args: [get]
  env: [{name: A, value: b}]
`;

function read(text: string) {
  const directory = temp();
  fs.writeFileSync(path.join(directory, "ecr"), "#!/bin/sh\n", { mode: 0o755 });
  fs.writeFileSync(path.join(directory, "plain"), "", { mode: 0o644 });
  const file = path.join(directory, "c.yaml");
  fs.writeFileSync(file, text);
  return credentialProviders(
    parseOptions(agentOptions, [
      `--image-credential-provider-config=${file}`,
      `--image-credential-provider-bin-dir=${directory}`,
    ]),
  );
}

test("a provider is read whole", async () => {
  const [provider, ...more] = await read(good);
  expect(more).toEqual([]);
  expect(provider).toEqual({
    name: "ecr",
    program: expect.stringMatching(/\/ecr$/) as string,
    apiVersion: "credentialprovider.kubelet.k8s.io/v1",
    matchImages: ["*.dkr.ecr.*.amazonaws.com", "host:5000/team"],
    defaultCacheMs: 43_200_000,
    arguments: ["get"],
    environment: { A: "b" },
  });
});

test.each([
  [`${head}providers: []\n`, /c\.yaml:3: providers: at least 1 item/],
  [
    good.replace("name: ecr", "name: ../ecr"),
    /c\.yaml:4: providers\[0\]\.name: must not contain/,
  ],
  [good.replace("name: ecr", "name: .."), /must not contain/],
  [
    good.replace("name: ecr", "name: plain"),
    /name: .*plain is not an executable/,
  ],
  [
    good.replace("name: ecr", "name: gone"),
    /name: .*gone is not an executable/,
  ],
  [
    good.replace("k8s.io/v1\n  match", "k8s.io/v2\n  match"),
    /c\.yaml:5: .*apiVersion: must be/,
  ],
  [
    good.replace(/matchImages: .*/, "matchImages: []"),
    /matchImages: at least 1/,
  ],
  [
    good.replace("host:5000/team", "https://host"),
    /matchImages\[1\]: must be a host/,
  ],
  [good.replace("12h", "often"), /c\.yaml:7: .*defaultCacheDuration/],
  [good.replace("12h", "-1s"), /greater than or equal to 0/],
  [
    good.replace("  defaultCacheDuration: 12h\n", ""),
    /defaultCacheDuration: is required/,
  ],
  [
    good.replace("args:", "arguments:"),
    /c\.yaml:8: .*arguments: unknown field/,
  ],
  [
    good.replace("kind: Cred", "kind: X"),
    /c\.yaml:2: kind: must be CredentialProviderConfig/,
  ],
])("a bad configuration %#", async (text, message) => {
  await expect(read(text)).rejects.toThrow(message);
});

test.each([
  [
    ["--image-credential-provider-config=/x"],
    /^--image-credential-provider-bin-dir: must be set together/,
  ],
  [
    ["--image-credential-provider-bin-dir=/x"],
    /^--image-credential-provider-config: must be set together/,
  ],
  [
    [
      "--image-credential-provider-config=/x",
      "--image-credential-provider-bin-dir=/nonexistent",
    ],
    /^--image-credential-provider-bin-dir: \/nonexistent is not a directory/,
  ],
  [
    [
      "--image-credential-provider-config=/nonexistent",
      "--image-credential-provider-bin-dir=/tmp",
    ],
    /^--image-credential-provider-config: ENOENT/,
  ],
])("options that do not fit %#", async (argv, message) => {
  await expect(
    credentialProviders(parseOptions(agentOptions, argv)),
  ).rejects.toThrow(message);
});

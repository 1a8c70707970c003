// A registry that wants a user and a password, and the entries of docker's configuration that are pulled with: however an
// entry names the registry, the runtime must take it for the one it asks.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  credentialsOf,
  parseDockerConfig,
} from "../../../agent/images/docker-config.ts";
import { repositoryName } from "../../../agent/images/registry-keys.ts";
import {
  startImageRegistry,
  type ImageRegistry,
} from "../../support/image-registry.ts";
import {
  runtimeKinds,
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";

describe.each(runtimeKinds)("%s", (kind) => {
  let part: PrivateRuntime;
  let registry: ImageRegistry;

  beforeAll(async () => {
    part = await startPrivateRuntime({ kind });
    const directory = path.join(part.directory, "registry");
    fs.mkdirSync(directory);
    registry = await startImageRegistry(directory, {
      name: "alice",
      password: "right",
    });
  });
  afterAll(async () => {
    registry?.close();
    await part?.dispose();
  });

  async function pull(location: string, password: string): Promise<string> {
    const config = {
      auths: { [location]: { username: "alice", password } },
    };
    const [auth] = credentialsOf(
      parseDockerConfig(JSON.stringify(config), "config.json"),
      repositoryName(registry.image),
    );
    const before = await part.runtime.imageStatus(registry.image);
    if (before) await part.runtime.removeImage(registry.image);
    return part.runtime.pullImage(registry.image, auth);
  }

  test.each(["", "/team", "http://", "https:///v2/"])(
    "an entry for the registry, written with %p",
    async (form) => {
      const [before, after] = form.includes("//")
        ? form.split(/(?<=\/\/)/)
        : ["", form];
      await pull(`${before}${registry.address}${after ?? ""}`, "right");
      const found = await part.runtime.imageStatus(registry.image);
      expect(found?.repoTags).toContain(registry.image);
    },
  );

  test("a wrong password", async () => {
    await expect(pull(registry.address, "wrong")).rejects.toThrow();
    expect(registry.codes.at(-1)).toBe(401);
  });
});

// Registries as the machine's users configure them for containerd (hosts.toml): a mirror over plain HTTP in place of a
// registry that is not there, taken up at the next pull.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  startImageRegistry,
  type ImageRegistry,
} from "../../support/image-registry.ts";
import {
  startPrivateRuntime,
  type PrivateRuntime,
} from "../../support/private-runtime.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
let registries: string;
let part: PrivateRuntime;
let registry: ImageRegistry;

beforeAll(async () => {
  registries = directories();
  part = await startPrivateRuntime({
    image: false,
    registryDirectories: [registries],
  });
  const directory = path.join(part.directory, "registry");
  fs.mkdirSync(directory);
  registry = await startImageRegistry(directory);
});
afterAll(async () => {
  registry?.close();
  await part?.dispose();
});

test("a mirror is asked in place of its registry", async () => {
  // A name that no resolver knows.
  const image = "registry.invalid/team/busybox:1";
  await expect(part.runtime.pullImage(image)).rejects.toThrow(
    "registry.invalid",
  );
  const place = path.join(registries, "registry.invalid");
  fs.mkdirSync(place, { recursive: true });
  fs.writeFileSync(
    path.join(place, "hosts.toml"),
    `[host."http://${registry.address}"]\n  capabilities = ["pull", "resolve"]\n`,
  );
  await part.runtime.pullImage(image);
  const found = await part.runtime.imageStatus(image);
  expect(found?.repoTags).toContain(image);
  expect(registry.codes).toContain(200);
});

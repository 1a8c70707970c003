// What images take on the disk, by the sizes that the daemon has noted down.
import * as fs from "node:fs";
import * as path from "node:path";
import { layerBytes } from "../../../cri/docker/images/layer-sizes.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();

function daemon(sizes: readonly (string | undefined)[]): string {
  const root = directories();
  const layers = path.join(root, "image/overlay2/layerdb/sha256");
  fs.mkdirSync(layers, { recursive: true });
  for (const [index, size] of sizes.entries()) {
    const layer = path.join(layers, `${index}`.repeat(64));
    fs.mkdirSync(layer);
    if (size !== undefined) fs.writeFileSync(path.join(layer, "size"), size);
  }
  return root;
}

test.each<[(string | undefined)[], number | undefined]>([
  [["312", "1984251"], 1984563],
  [["5\n", "0"], 5],
  [[], 0],
  // One that is being removed.
  [["5", undefined], 5],
  [["5", "many"], undefined],
  [["5", "-1"], undefined],
  [["5", "9".repeat(20)], undefined],
])("%j", async (sizes, wanted) => {
  const rootDirectory = daemon(sizes);
  expect(await layerBytes({ rootDirectory, storageDriver: "overlay2" })).toBe(
    wanted,
  );
});

test("images that are kept in another way are not counted so", async () => {
  const rootDirectory = daemon(["5"]);
  expect(await layerBytes({ rootDirectory, storageDriver: "overlayfs" })).toBe(
    undefined,
  );
});

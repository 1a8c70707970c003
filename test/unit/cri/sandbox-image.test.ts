// The built-in sandbox image: deterministic bytes, a program that reaps and exits, two archive forms in one tar.
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { hostArchitecture } from "../../../cri/machine-code/architecture.ts";
import { buildSandboxImage } from "../../../cri/sandbox-image/image.ts";
import { pauseProgram } from "../../../cri/sandbox-image/pause-program.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temporary = useTempDirectories();

test.each([
  ["amd64", 62],
  ["arm64", 183],
] as const)(
  "the program for %s is a small static ELF file",
  (architecture, machine) => {
    const file = pauseProgram(architecture);
    expect(file.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
    expect(file.readUInt16LE(18)).toBe(machine);
    expect(Number(file.readBigUInt64LE(24))).toBe(0x400000 + 120);
    expect(Number(file.readBigUInt64LE(96))).toBe(file.length);
    expect(file.length).toBeLessThan(400);
  },
);

/** The bytes were run once on each architecture; a change has to be run again before this is brought up to date. */
test.each([
  ["amd64", "63e08bb52f223cc84afc343a49daec4934557172aa34c6139e9a2e7b4fffa320"],
  ["arm64", "c6d3e9885e17dbb1ea7c2b4e538c989167a6e06375ebe64cf4fe7e6b6714ad47"],
] as const)("the program for %s has not changed", (architecture, digest) => {
  expect(
    createHash("sha256").update(pauseProgram(architecture)).digest("hex"),
  ).toBe(digest);
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "it sleeps, and exits 0 on %s",
  async (signal) => {
    const file = path.join(temporary(), "pause");
    fs.writeFileSync(file, pauseProgram(hostArchitecture()), { mode: 0o755 });
    const child = spawn(file, { stdio: "ignore" });
    const exit = new Promise((resolve) =>
      child.once("exit", (code, by) => resolve([code, by])),
    );
    // It has set its handlers when SIGTERM (bit 14) and SIGINT (bit 1) are caught and SIGCHLD (bit 16) is ignored.
    for (let tries = 0; tries < 1000; tries++) {
      const status = fs.readFileSync(`/proc/${child.pid}/status`, "utf8");
      if (
        /^SigCgt:\s*0*4002$/m.test(status) &&
        /^SigIgn:\s*\S*1\S{4}$/m.test(status)
      )
        break;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    child.kill(signal);
    expect(await exit).toEqual([0, null]);
  },
);

test("the tar is an OCI layout and a docker archive, and always the same", () => {
  const image = buildSandboxImage("amd64");
  expect(buildSandboxImage("amd64").tar.equals(image.tar)).toBe(true);
  expect(buildSandboxImage("arm64").id).not.toBe(image.id);
  const directory = temporary();
  const tar = path.join(directory, "image.tar");
  fs.writeFileSync(tar, image.tar);
  execFileSync("tar", ["-xf", tar, "-C", directory]);
  const json = (name: string): never =>
    JSON.parse(fs.readFileSync(path.join(directory, name), "utf8")) as never;
  const docker = json("manifest.json") as {
    Config: string;
    Layers: string[];
    RepoTags: string[];
  }[];
  expect(docker[0]!.RepoTags).toEqual([image.name]);
  for (const blob of [docker[0]!.Config, ...docker[0]!.Layers]) {
    const bytes = fs.readFileSync(path.join(directory, blob));
    expect(
      `blobs/sha256/${createHash("sha256").update(bytes).digest("hex")}`,
    ).toBe(blob);
  }
  const index = json("index.json") as { manifests: { digest: string }[] };
  const manifest = json(
    `blobs/sha256/${index.manifests[0]!.digest.slice(7)}`,
  ) as { config: { digest: string } };
  expect(manifest.config.digest).toBe(image.id);
});

test("an unknown processor is named", () => {
  expect(() => hostArchitecture("s390x")).toThrow("s390x");
});

// What root reads as a container's last message: the file that the container wrote, and nothing else that a pod can put in
// its place, such as a pipe, a device node or a link in a volume of its own.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { terminationMessage } from "../../../agent/status/termination-message.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { containerOf, testPod } from "./runtime-objects.ts";

const directories = useTempDirectories();
const containerPath = "/dev/termination-log";

const pod = testPod({
  containers: [
    { name: "main", image: "i", terminationMessagePath: containerPath },
  ],
});

const messageIn = (hostPath: string): Promise<string> =>
  terminationMessage(
    containerOf(pod, "main", {
      mounts: [
        { containerPath, hostPath, readonly: false, propagation: "private" },
      ],
      exitCode: 1,
    }),
    { tail: () => Promise.resolve("") },
  );

test("the file is read, and no more of it than a message may have", async () => {
  const file = path.join(directories(), "log");
  fs.writeFileSync(file, "over");
  expect(await messageIn(file)).toBe("over");
  fs.writeFileSync(file, `${"x".repeat(10_000)}the end`);
  const message = await messageIn(file);
  expect(message).toHaveLength(4096);
  expect(message).toMatch(/^x+the end$/);
});

test("a pipe without a writer holds nobody", async () => {
  const pipe = path.join(directories(), "pipe");
  execFileSync("mkfifo", [pipe]);
  // More of them than the process has threads for files.
  const messages = await Promise.all(
    Array.from({ length: 16 }, () => messageIn(pipe)),
  );
  expect(new Set(messages)).toEqual(new Set([""]));
});

test("a device node of the pod's is not the host's device", async () => {
  const device = path.join(directories(), "device");
  // The device of zeros: any read of it would give a message.
  execFileSync("mknod", [device, "c", "1", "5"]);
  expect(await messageIn(device)).toBe("");
});

test("a link is not followed", async () => {
  const directory = directories();
  const link = path.join(directory, "link");
  fs.writeFileSync(path.join(directory, "secret"), "of the host");
  fs.symlinkSync(path.join(directory, "secret"), link);
  expect(await messageIn(link)).toBe("");
});

test.each([
  ["/a/../b//log", "/a/../b//log"],
  ["/a/../b//log", "/b/log"],
])("the path %s is found as %s", async (asked, reported) => {
  const file = path.join(directories(), "log");
  fs.writeFileSync(file, "over");
  const pod = testPod({
    containers: [{ name: "main", image: "i", terminationMessagePath: asked }],
  });
  const mount = { containerPath: reported, hostPath: file, readonly: false };
  const status = containerOf(pod, "main", {
    mounts: [{ ...mount, propagation: "private" }],
    exitCode: 1,
  });
  expect(
    await terminationMessage(status, { tail: () => Promise.resolve("") }),
  ).toBe("over");
});

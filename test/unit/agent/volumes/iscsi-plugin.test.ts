// What the node keeps of attached units: who uses them, across restarts, and that the last one's end detaches them.
import * as fs from "node:fs";
import * as path from "node:path";
import { iscsiPlugin } from "../../../../agent/volumes/iscsi/iscsi-plugin.ts";
import type { Target } from "../../../../agent/volumes/iscsi/iscsi-target.ts";
import type {
  MountedVolume,
  VolumePlugin,
} from "../../../../agent/volumes/volume-plugin.ts";
import type { PersistentVolume } from "../../../../api/types/core-v1.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";
import { testPod } from "../runtime-objects.ts";

const temporary = useTempDirectories("orbit-iscsi-");
const iqn = "iqn.2026-11.example:disks";

class Node {
  readonly root = temporary();
  readonly done: string[] = [];
  readonly targets: Target[] = [];
  fault: Error | undefined;
  plugin = this.restarted();

  restarted(): VolumePlugin {
    return iscsiPlugin({
      config: { rootDirectory: this.root, memoryDirectory: undefined },
      secret: (namespace, name) =>
        Promise.resolve(
          name === "chap"
            ? {
                data: {
                  "node.session.auth.password":
                    Buffer.from(namespace).toString("base64"),
                },
              }
            : undefined,
        ),
      initiator: {
        attach: (target) => {
          this.targets.push(target);
          this.done.push(`attach ${target.lun}`);
          return this.fault
            ? Promise.reject(this.fault)
            : Promise.resolve(`/dev/unit${target.lun}`);
        },
        detach: (target, last) => {
          this.done.push(`detach ${target.lun}${last ? ", last" : ""}`);
          return this.fault ? Promise.reject(this.fault) : Promise.resolve();
        },
      },
    });
  }

  /** As a block device, which nothing is mounted for. */
  mount(uid: string, lun: number, more: object = {}): Promise<MountedVolume> {
    const iscsi = { targetPortal: "192.0.2.1", iqn, lun, ...more };
    const spec = { iscsi, volumeMode: "Block" };
    return this.plugin.mount({
      pod: { ...testPod({}), metadata: { name: "p", namespace: "n", uid } },
      name: "v",
      source: spec,
      persistentVolume: { metadata: { name: "pv" }, spec } as PersistentVolume,
    });
  }

  async end(uid: string): Promise<void> {
    await this.plugin.unmount!(uid);
    await this.plugin.released!();
  }

  kept(): string[] {
    const directory = path.join(this.root, "plugins/kubernetes.io~iscsi");
    return fs.existsSync(directory) ? fs.readdirSync(directory) : [];
  }
}

test("a unit is detached with its last pod, the sessions with the target's last unit", async () => {
  const node = new Node();
  expect(await node.mount("one", 1)).toEqual({
    path: "/dev/unit1",
    device: true,
    readOnly: false,
  });
  await node.mount("two", 1);
  await node.mount("two", 2);
  expect(node.kept()).toHaveLength(2);
  await node.end("one");
  expect(node.done).toEqual(["attach 1", "attach 1", "attach 2"]);
  // Another agent, which knows what the first has written down.
  node.plugin = node.restarted();
  await node.end("two");
  // In any order: the last one takes the sessions.
  expect(node.done.slice(3)).toEqual([
    expect.stringMatching(/^detach \d$/),
    expect.stringMatching(/^detach \d, last$/),
  ]);
  expect(node.kept()).toEqual([]);
});

test("what could not be attached or detached is ended by the next look", async () => {
  const node = new Node();
  node.fault = new Error("no route");
  await expect(node.mount("one", 1)).rejects.toThrow("no route");
  expect(node.kept()).toHaveLength(1);
  await expect(node.end("one")).rejects.toThrow("no route");
  expect(node.kept()).toHaveLength(1);
  node.fault = undefined;
  await node.plugin.released!();
  expect(node.done.at(-1)).toBe("detach 1, last");
  expect(node.kept()).toEqual([]);
});

test("a record that was cut short is removed", async () => {
  const node = new Node();
  await node.mount("one", 1);
  const [key] = node.kept();
  const directory = path.join(node.root, "plugins/kubernetes.io~iscsi", key!);
  fs.writeFileSync(path.join(directory, "record.json"), '{"iqn":');
  await node.end("one");
  expect(node.kept()).toEqual([]);
});

test("passwords are those of the volume's Secret, and not written down", async () => {
  const node = new Node();
  const chap = { chapAuthSession: true };
  await expect(
    node.mount("one", 1, { ...chap, secretRef: { name: "none" } }),
  ).rejects.toThrow("CHAP is asked for, and there is no secret n/none");
  await expect(node.mount("one", 1, chap)).rejects.toThrow("no secret n/");
  expect(node.done).toEqual([]);
  const secretRef = { name: "chap", namespace: "of-the-volume" };
  await node.mount("one", 1, { ...chap, secretRef });
  expect(node.targets[0]!.session).toEqual({ password: "of-the-volume" });
  const [key] = node.kept();
  const file = path.join(
    node.root,
    "plugins/kubernetes.io~iscsi",
    key!,
    "record.json",
  );
  expect(fs.readFileSync(file, "utf8")).not.toContain("of-the-volume");
  // A volume of the pod itself can't name another namespace's.
  await node.plugin
    .mount({
      pod: {
        ...testPod({}),
        metadata: { name: "p", namespace: "n", uid: "u" },
      },
      name: "v",
      source: {
        iscsi: { targetPortal: "x", iqn, lun: 3, ...chap, secretRef } as never,
      },
    })
    .catch(() => undefined);
  expect(node.targets.at(-1)!.session).toEqual({ password: "n" });
});

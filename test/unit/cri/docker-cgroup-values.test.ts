// Values of a container's cgroup that Docker's API has no field for, on trees of files as the kernel has them.
import * as fs from "node:fs";
import * as path from "node:path";
import {
  cgroupValues,
  valuesAfterUpdate,
  writeCgroupValues,
} from "../../../cri/docker/cgroup-values.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const parent = "/orbit/burstable/podu";
const id = "c".repeat(64);

/** A mount of cgroups with these files; what they hold is read back with `read`. */
function tree(files: readonly string[], controllers?: string) {
  const mount = directories();
  if (controllers !== undefined)
    fs.writeFileSync(path.join(mount, "cgroup.controllers"), controllers);
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(mount, file)), { recursive: true });
    fs.writeFileSync(path.join(mount, file), "");
  }
  return {
    mount,
    read: (file: string) => fs.readFileSync(path.join(mount, file), "utf8"),
  };
}

const hugepageLimits = [{ pageSize: "2MB", limitBytes: 4 << 20 }];
const unified = { "memory.oom.group": "1", "memory.swap.max": "0" };

test("only what the daemon can't set is kept", () => {
  expect(cgroupValues(parent, { memoryLimitBytes: 5 })).toBeUndefined();
  expect(cgroupValues(parent)).toBeUndefined();
  expect(cgroupValues(parent, { memoryLimitBytes: 5, unified })).toEqual({
    parent,
    unified,
  });
});

test("a container keeps its part of the swap when the daemon sets its memory", () => {
  const made = { parent, unified: { "memory.swap.max": "8", a: "1" } };
  expect(valuesAfterUpdate(made, { memoryLimitBytes: 5 })).toEqual({
    parent,
    unified: { "memory.swap.max": "8" },
  });
  expect(valuesAfterUpdate(made, { cpuShares: 5 })).toBeUndefined();
  expect(valuesAfterUpdate(undefined, { memoryLimitBytes: 5 })).toBeUndefined();
  const asked = { "memory.swap.max": "9" };
  expect(
    valuesAfterUpdate(made, { memoryLimitBytes: 5, unified: asked }),
  ).toEqual({ parent, unified: asked });
  expect(() => valuesAfterUpdate(undefined, { hugepageLimits })).toThrow(
    /made without such values/,
  );
});

const slice = "orbit-burstable-podu.slice";
const below = `orbit.slice/orbit-burstable.slice/${slice}`;
test.each([
  ["systemd", slice, `/${below}/docker-${id}.scope`],
  ["systemd", `/${below}`, `/${below}/docker-${id}.scope`],
  ["cgroupfs", parent, `${parent}/${id}`],
])("version 2 with the driver %s below %s", async (...[driver, above, own]) => {
  const names = [
    ...["memory.oom.group", "memory.swap.max"],
    ...["hugetlb.2MB.max", "hugetlb.2MB.rsvd.max"],
  ];
  const files = names.map((file) => `${own}/${file}`);
  const { mount, read } = tree(files, "memory hugetlb\n");
  const facts = { cgroupDriver: driver, cgroupVersion: 2 } as const;
  await writeCgroupValues(mount, facts, id, {
    parent: above,
    unified,
    hugepageLimits,
  });
  expect(files.map(read)).toEqual([
    ...["1", "0"],
    ...[String(4 << 20), String(4 << 20)],
  ]);
});

test("version 1 counts huge pages in a hierarchy of their own, or not at all", async () => {
  const facts = { cgroupDriver: "cgroupfs", cgroupVersion: 1 } as const;
  const file = `hugetlb${parent}/${id}/hugetlb.2MB.limit_in_bytes`;
  const { mount, read } = tree([file]);
  const values = { parent, hugepageLimits };
  // A kernel that does not count what is reserved alone.
  await writeCgroupValues(mount, facts, id, values);
  expect(read(file)).toBe(String(4 << 20));
  const reserved = `hugetlb${parent}/${id}/hugetlb.2MB.rsvd.limit_in_bytes`;
  const newer = tree([file, reserved]);
  await writeCgroupValues(newer.mount, facts, id, values);
  expect(newer.read(reserved)).toBe(String(4 << 20));
  await writeCgroupValues(tree([]).mount, facts, id, values);
});

test("what can't be written is an error that names it, and makes no file", async () => {
  const facts = { cgroupDriver: "cgroupfs", cgroupVersion: 2 } as const;
  const { mount } = tree([`${parent}/${id}/memory.max`], "memory\n");
  const directory = path.join(mount, parent, id);
  await expect(
    writeCgroupValues(mount, facts, id, {
      parent,
      unified: { "memory.oom.group": "1" },
    }),
  ).rejects.toThrow(/can't set memory.oom.group of the container to 1: ENOENT/);
  await expect(
    writeCgroupValues(mount, facts, id, {
      parent,
      unified: { "../memory.max": "1" },
    }),
  ).rejects.toThrow("../memory.max is no file of a cgroup");
  expect(fs.readdirSync(directory)).toEqual(["memory.max"]);
});

// How the initiator is driven: what is asked of iscsiadm, in which order, and how a unit's device is found in /sys. The
// program is a script that writes its arguments down; the tree is a directory that has the form of /sys.
import * as fs from "node:fs";
import * as path from "node:path";
import { IscsiInitiator } from "../../../../agent/volumes/iscsi/iscsi-initiator.ts";
import {
  portalOf,
  targetOf,
  unitKey,
  type Target,
} from "../../../../agent/volumes/iscsi/iscsi-target.ts";
import { eventually } from "../../../support/eventually.ts";
import { useTempDirectories } from "../../../support/temp-directory.ts";

const temporary = useTempDirectories("orbit-iscsi-");
const iqn = "iqn.2026-11.example:disks";
const portal = "192.0.2.1:3260";

/** A machine: `onLogin` is what its kernel does when a session begins. */
function machine(onLogin = "", deviceTimeoutMs = 10_000) {
  const directory = temporary();
  const sys = path.join(directory, "sys");
  const calls = path.join(directory, "calls");
  const program = path.join(directory, "iscsiadm");
  fs.writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$*" >>'${calls}'\ncase " $* " in\n${onLogin}\n*) ;;\nesac\n`,
    { mode: 0o755 },
  );
  fs.mkdirSync(path.join(sys, "class/scsi_host/host2"), { recursive: true });
  fs.mkdirSync(path.join(sys, "class/iscsi_session"), { recursive: true });
  const files = (tree: Record<string, string>): void => {
    for (const [file, text] of Object.entries(tree)) {
      fs.mkdirSync(path.dirname(path.join(sys, file)), { recursive: true });
      fs.writeFileSync(path.join(sys, file), text);
    }
  };
  const session = (number: number, address: string, port = "3260"): string => {
    const device = `devices/platform/host2/session${number}`;
    const connection = `connection${number}:0`;
    const facts = `${device}/${connection}/iscsi_connection/${connection}`;
    files({
      [`class/iscsi_session/session${number}/targetname`]: `${iqn}\n`,
      [`${facts}/persistent_address`]: `${address}\n`,
      [`${facts}/persistent_port`]: `${port}\n`,
    });
    fs.symlinkSync(
      path.join(sys, device),
      path.join(sys, `class/iscsi_session/session${number}/device`),
    );
    return device;
  };
  return {
    sys,
    files,
    session,
    program,
    initiator: new IscsiInitiator({ sys, program, deviceTimeoutMs }),
    calls: (): string[] =>
      fs.existsSync(calls)
        ? fs.readFileSync(calls, "utf8").trim().split("\n")
        : [],
  };
}

const target = (change: object = {}, secret?: Record<string, string>): Target =>
  targetOf("pv", { targetPortal: "192.0.2.1", iqn, lun: 1, ...change }, secret);
const node = `-m node -p ${portal} -T ${iqn} -I default`;
const discovery = `-m discoverydb -t sendtargets -p ${portal} -I default`;

test.each([
  ["192.0.2.1", "192.0.2.1:3260"],
  ["192.0.2.1:99", "192.0.2.1:99"],
  ["disks.example", "disks.example:3260"],
  ["2001:db8::1", "[2001:db8::1]:3260"],
  ["[2001:db8::1]", "[2001:db8::1]:3260"],
  ["[2001:db8::1]:99", "[2001:db8::1]:99"],
])("the portal %s is %s", (given, shown) => {
  expect(portalOf(given)).toBe(shown);
});

test("a unit has a name of its own", () => {
  expect(unitKey(target())).toMatch(/^[0-9a-f]{32}$/);
  expect(unitKey(target())).not.toBe(unitKey(target({ lun: 2 })));
});

test.each([
  { iqn: "iqn.2026-11.x:../../../etc/cron.d/x" },
  { iqn: "iqn.2026-11.x:a b" },
  { initiatorName: "iqn.2026-11.x:a/b" },
  { iscsiInterface: ".." },
  { iscsiInterface: "../x" },
  { iscsiInterface: "" },
  { targetPortal: "/etc/passwd" },
  { portals: ["192.0.2.1\n"] },
])("names that would lead elsewhere are refused: %j", (change) => {
  const [field] = Object.keys(change);
  const shown =
    field === "targetPortal" || field === "portals" ? "portal" : field;
  expect(() => target(change)).toThrow(`iscsi: ${shown} `);
});

test("a unit through a session that begins", async () => {
  const { initiator, session, files, sys, calls } = machine();
  const attached = initiator.attach(target());
  // The session is there when the program was asked for it, or a moment later: the first attempt may fail.
  await expect(attached).rejects.toThrow(`no session with portal ${portal}`);
  expect(calls()).toEqual([
    `${discovery} -o new`,
    `${discovery} --discover`,
    `${node} -o update -n node.session.scan -v manual`,
    `${node} -o update -n node.startup -v manual`,
    `${node} --login`,
  ]);
  const device = session(3, "192.0.2.1");
  files({ "class/scsi_host/host2/scan": "" });
  const again = initiator.attach(target());
  const scan = path.join(sys, "class/scsi_host/host2/scan");
  await eventually(() => fs.readFileSync(scan, "utf8") === "0 0 1");
  files({ [`${device}/target2:0:0/2:0:0:11/block/sdx/size`]: "1" });
  files({ [`${device}/target2:0:0/2:0:0:1/block/sdb/size`]: "1" });
  expect(await again).toBe("/dev/sdb");
  // Neither discovered nor logged in again.
  expect(calls()).toHaveLength(5);
});

test("the multipath device above it, through two portals of which one is dead", async () => {
  const dead = "*' -p 192.0.2.2:3260 '*--login*) echo no route >&2; exit 8 ;;";
  const { initiator, session, files } = machine(dead);
  const device = session(1, "192.0.2.1");
  files({
    [`${device}/target2:0:0/2:0:0:1/block/sdb/size`]: "1",
    "block/sdb/holders/dm-4/x": "",
    "block/dm-4/dm/uuid": "mpath-3600a",
    "block/sdb/holders/dm-3/x": "",
    "block/dm-3/dm/uuid": "LVM-x",
  });
  expect(await initiator.attach(target({ portals: ["192.0.2.2"] }))).toBe(
    "/dev/dm-4",
  );
});

test("CHAP, and an initiator name of the volume's own", async () => {
  const show =
    "*'-I default -o show'*) printf '# BEGIN\\niface.iscsi_ifacename = default\\niface.transport_name = tcp\\niface.initiatorname = <empty>\\niface.mtu = 0\\n' ;;";
  const { initiator, calls } = machine(show);
  const secret = {
    "discovery.sendtargets.auth.username": "d",
    "node.session.auth.username": "u",
    "node.session.auth.password": "p p",
    "node.session.auth.username_in": "in",
    other: "x",
  };
  const chap = { chapAuthDiscovery: true, chapAuthSession: true };
  const own = { initiatorName: "iqn.2026-11.example:me", ...chap };
  await expect(initiator.attach(target(own, secret))).rejects.toThrow();
  const interfaceName = "-I 192.0.2.1:pv";
  const found = `-m discoverydb -t sendtargets -p ${portal} ${interfaceName}`;
  const record = `-m node -p ${portal} -T ${iqn} ${interfaceName}`;
  expect(calls()).toEqual([
    "-m iface -I default -o show",
    `-m iface ${interfaceName} -o new`,
    `-m iface ${interfaceName} -o update -n iface.transport_name -v tcp`,
    `-m iface ${interfaceName} -o update -n iface.mtu -v 0`,
    `-m iface ${interfaceName} -o update -n iface.initiatorname -v iqn.2026-11.example:me`,
    `${found} -o new`,
    `${found} -o update -n discovery.sendtargets.auth.authmethod -v CHAP`,
    `${found} -o update -n discovery.sendtargets.auth.username -v d`,
    `${found} --discover`,
    `${record} -o update -n node.session.auth.authmethod -v CHAP`,
    `${record} -o update -n node.session.auth.username -v u`,
    `${record} -o update -n node.session.auth.password -v p p`,
    `${record} -o update -n node.session.auth.username_in -v in`,
    `${record} -o update -n node.session.scan -v manual`,
    `${record} -o update -n node.startup -v manual`,
    `${record} --login`,
  ]);
});

test("a target that can't be found or refuses leaves no record, and no password in the error", async () => {
  const absent = machine(
    "*--discover*) echo connection refused >&2; exit 4 ;;",
  );
  await expect(absent.initiator.attach(target())).rejects.toThrow(
    "failed to get any path for iscsi disk: iscsiadm: connection refused",
  );
  expect(absent.calls().at(-1)).toBe(`${discovery} -o delete`);
  const refusing = machine("*--login*) exit 24 ;;\n*password*) exit 7 ;;");
  const chap = { chapAuthSession: true };
  const secret = { "node.session.auth.password": "secret" };
  const failed = refusing.initiator.attach(target(chap, secret));
  await expect(failed).rejects.toThrow("iscsiadm: it ended with 7");
  await expect(failed).rejects.not.toThrow("secret");
  expect(refusing.calls().at(-1)).toBe(`${node} -o delete`);
});

test("without the program the node's administrator reads what to install", async () => {
  const { sys } = machine();
  const initiator = new IscsiInitiator({ sys, program: "/nowhere/iscsiadm" });
  await expect(initiator.attach(target())).rejects.toThrow("open-iscsi");
});

test("a unit that does not come", async () => {
  const { initiator, session, files } = machine("", 50);
  session(3, "192.0.2.1");
  files({ "class/scsi_host/host2/scan": "" });
  await expect(initiator.attach(target())).rejects.toThrow(
    `timed out waiting for the device of LUN 1 through portal ${portal}`,
  );
});

test("a unit goes alone, or with the target's sessions", async () => {
  const { initiator, session, files, sys, calls } = machine();
  const device = session(3, "192.0.2.1");
  files({
    [`${device}/target2:0:0/2:0:0:1/block/sdb/size`]: "1",
    [`${device}/target2:0:0/2:0:0:2/block/sdc/size`]: "1",
  });
  await initiator.detach(target(), false);
  const removal = (lun: number): string =>
    path.join(sys, device, `target2:0:0/2:0:0:${lun}/delete`);
  expect(fs.readFileSync(removal(1), "utf8")).toBe("1");
  expect(fs.existsSync(removal(2))).toBe(false);
  expect(calls()).toEqual([]);
  await initiator.detach(target({ portals: ["192.0.2.2"] }), true);
  expect(calls()).toEqual([
    `${node} --logout`,
    `${node} -o delete`,
    `-m node -p 192.0.2.2:3260 -T ${iqn} -I default -o delete`,
  ]);
});

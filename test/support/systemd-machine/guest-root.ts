// The file system of a guest: the host's own /usr, read-only, below a fresh /etc, /var and /usr/local. So the guest has
// just the programs the tests have (systemd, containerd, runc, Node), nothing is downloaded, and it is made in a moment.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

/** Of the host's /etc: what programs in /usr need to run at all. */
const copiedConfiguration = [
  "alternatives",
  "group",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "os-release",
  "passwd",
  "protocols",
  "services",
];

/** Units that would change the whole machine (sysctl), or that have nothing to do in a guest. */
const maskedUnits = [
  "systemd-sysctl.service",
  "systemd-binfmt.service",
  "systemd-udevd.service",
  "systemd-udev-trigger.service",
  "console-getty.service",
  "getty.target",
];

/** nspawn mounts the controllers of cgroups version 1 read-only; the guest's pods need them. */
const writableCgroups = `[Unit]
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'mount -o remount,rw /sys/fs/cgroup; for group in /sys/fs/cgroup/*/; do mount -o remount,bind,rw $group; done; true'
`;

/** As Debian's, but runc may not lower oom_score_adj where the host lacks CAP_SYS_RESOURCE. */
const containerdConfiguration = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "orbit.local/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/etc/cni/net.d"
`;

/**
 * Makes root/, var/ and local/ below `directory`: the guest's /, /var and /usr/local. `programs` are copied to
 * /usr/local/bin unless the host has them in /usr/bin.
 */
export function makeGuestRoot(
  directory: string,
  guest: { hostname: string; programs: readonly string[]; logind: boolean },
): void {
  const root = path.join(directory, "root");
  const at = (...names: string[]): string => path.join(root, ...names);
  for (const name of ["usr", "var", "proc", "sys", "dev", "run", "tmp", "root"])
    fs.mkdirSync(at(name), { recursive: true });
  for (const name of ["opt/orbit", "etc/systemd/system/sysinit.target.wants"])
    fs.mkdirSync(at(name), { recursive: true });
  // Merged with /usr, as Debian is since 12.
  for (const name of ["bin", "sbin", "lib", "lib64"])
    if (fs.lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink())
      fs.symlinkSync(fs.readlinkSync(`/${name}`), at(name));
  for (const name of copiedConfiguration)
    if (fs.existsSync(`/etc/${name}`))
      // Links of alternatives lead into /usr; others may lead anywhere on the host.
      execFileSync("cp", [
        name === "alternatives" ? "-a" : "-aL",
        `/etc/${name}`,
        at("etc"),
      ]);
  const write = (name: string, text: string): void => {
    fs.mkdirSync(path.dirname(at("etc", name)), { recursive: true });
    fs.writeFileSync(at("etc", name), text);
  };
  write("hostname", `${guest.hostname}\n`);
  write("hosts", `127.0.0.1 localhost ${guest.hostname}\n`);
  write("machine-id", `${"0123456789abcdef".repeat(2)}\n`);
  write("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n");
  write("resolv.conf", "nameserver 127.0.0.1\n");
  write("containerd/config.toml", containerdConfiguration);
  // As the packages of containerd leave it.
  fs.mkdirSync(at("etc/cni/net.d"), { recursive: true });
  write("systemd/system/writable-cgroups.service", writableCgroups);
  fs.symlinkSync(
    "../writable-cgroups.service",
    at("etc/systemd/system/sysinit.target.wants/writable-cgroups.service"),
  );
  fs.symlinkSync(
    "/lib/systemd/system/multi-user.target",
    at("etc/systemd/system/default.target"),
  );
  for (const unit of guest.logind
    ? maskedUnits
    : [...maskedUnits, "systemd-logind.service"])
    fs.symlinkSync("/dev/null", at("etc/systemd/system", unit));
  for (const name of ["lib", "log/journal", "tmp", "cache"])
    fs.mkdirSync(path.join(directory, "var", name), { recursive: true });
  fs.symlinkSync("/run", path.join(directory, "var/run"));
  for (const name of ["bin", "lib", "sbin"])
    fs.mkdirSync(path.join(directory, "local", name), { recursive: true });
  for (const program of guest.programs) {
    const found = execFileSync("sh", ["-c", `command -v ${program}`], {
      encoding: "utf8",
    }).trim();
    const real = fs.realpathSync(found);
    if (path.dirname(found) !== "/usr/bin" || !real.startsWith("/usr/"))
      fs.copyFileSync(real, path.join(directory, "local/bin", program));
  }
}

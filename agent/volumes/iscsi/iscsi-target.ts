// What an iscsi volume names: portals, target, unit, and how the initiator makes itself known. Pure.
import { createHash } from "node:crypto";
import type {
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
} from "../../../api/types/core-v1.ts";

type Source = ISCSIPersistentVolumeSource | ISCSIVolumeSource;

/** Names and passwords of CHAP by iscsiadm's names: username, password, username_in, password_in. */
type Credentials = Readonly<Record<string, string>>;

/** A logical unit, and how it is reached. */
export interface Target {
  /** host:port each, as they are shown; at least one. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  /** Of iscsiadm. */
  readonly interface: string;
  /** The one that `interface` is made after, where the volume has an initiator name. */
  readonly baseInterface: string;
  readonly initiatorName?: string;
  /** CHAP when targets are looked for, and with a session. */
  readonly discovery?: Credentials;
  readonly session?: Credentials;
}

const defaultPort = 3260;

/** iscsiadm makes files of these as root: a slash, or a name of dots alone, would lead elsewhere. */
const plain = /^(?!\.+$)[\w.:[\]-]+$/;

function checkNames(names: Readonly<Record<string, string | undefined>>): void {
  for (const [field, name] of Object.entries(names))
    if (name !== undefined && !plain.test(name))
      throw new Error(
        `iscsi: ${field} ${JSON.stringify(name)} holds characters that such a name can't have`,
      );
}

/** `192.0.2.1` → `192.0.2.1:3260`, `2001:db8::1` → `[2001:db8::1]:3260`. */
export function portalOf(given: string): string {
  if (/^\[.*\]:\d+$/.test(given)) return given;
  if (/^\[.*\]$/.test(given)) return `${given}:${defaultPort}`;
  const colons = given.split(":").length - 1;
  if (colons > 1) return `[${given}]:${defaultPort}`;
  return colons === 1 ? given : `${given}:${defaultPort}`;
}

function credentialsOf(
  secret: Readonly<Record<string, string>>,
  prefix: string,
): Credentials {
  const found: Record<string, string> = {};
  for (const name of ["username", "password", "username_in", "password_in"]) {
    const value = secret[`${prefix}.${name}`];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Throws on names that no target has, whatever the API let pass (RFC 3722). @param secret decoded data of the volume's Secret; needed where the source asks for CHAP */
export function targetOf(
  volume: string,
  source: Source,
  secret?: Readonly<Record<string, string>>,
): Target {
  const { iqn, lun, initiatorName, iscsiInterface = "default" } = source;
  const portals = [source.targetPortal, ...(source.portals ?? [])];
  checkNames({ iqn, initiatorName, iscsiInterface, volume });
  for (const portal of portals) checkNames({ portal });
  return {
    portals: [...new Set(portals.map(portalOf))],
    iqn,
    lun,
    baseInterface: iscsiInterface,
    interface:
      initiatorName === undefined
        ? iscsiInterface
        : `${source.targetPortal}:${volume}`,
    ...(initiatorName === undefined ? {} : { initiatorName }),
    ...(source.chapAuthDiscovery && secret
      ? { discovery: credentialsOf(secret, "discovery.sendtargets.auth") }
      : {}),
    ...(source.chapAuthSession && secret
      ? { session: credentialsOf(secret, "node.session.auth") }
      : {}),
  };
}

/** A name for files; the target's own may hold any character. */
export function unitKey({ portals, iqn, lun }: Target): string {
  const name = JSON.stringify([portals[0], iqn, lun]);
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}

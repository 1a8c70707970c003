// The serving pair of a node agent or another part that no cluster gives one: made in --cert-dir, signed by an authority of
// its own there, replaced when it is about to expire or the machine's names changed. A part alone uses one it finds there.
import { X509Certificate } from "node:crypto";
import * as net from "node:net";
import * as path from "node:path";
import {
  createCertificateAuthority,
  YEAR_MS,
  type CertificatePair,
} from "../../../api/pki/certificate.ts";
import type { Clock } from "../../../api/clock.ts";
import { loadLeaf } from "../../../http-kit/certificates/kept-certificate.ts";
import {
  readFileIfAny,
  readKeyIfAny,
  writePrivateFile,
} from "../../../http-kit/certificates/private-files.ts";
import { UsageError } from "../../options/table.ts";
import { machineAddresses } from "../addresses.ts";
import { makeDirectory } from "../directories.ts";
import { checkPair } from "../option-files.ts";

interface AgentCertificateOptions {
  directory: string;
  /** Of the files; default orbitlet. */
  name?: string;
  nodeName: string;
  clock: Clock;
  /** The cluster's authority; without one an own is made. */
  authority?: CertificatePair;
}

/** Names and addresses clients of this node may use. */
function hostNames(nodeName: string): {
  dnsNames: string[];
  ipAddresses: string[];
} {
  const all = [
    nodeName,
    "localhost",
    "127.0.0.1",
    "::1",
    ...machineAddresses(),
  ];
  return {
    dnsNames: all.filter((each) => net.isIP(each) === 0),
    ipAddresses: all.filter((each) => net.isIP(each) !== 0),
  };
}

export function agentServingPair({
  directory,
  name = "orbitlet",
  nodeName,
  clock,
  authority,
}: AgentCertificateOptions): CertificatePair {
  makeDirectory("cert-dir", directory, 0o700);
  let signer = authority;
  if (!signer) {
    const file = path.join(directory, `${name}-ca`);
    const certificate = readFileIfAny(`${file}.crt`);
    const key = readKeyIfAny(`${file}.key`);
    if (certificate && key) signer = { certificate, key };
    else {
      signer = createCertificateAuthority({
        subject: { commonName: `${nodeName}-ca` },
        nowMs: clock.now(),
      });
      writePrivateFile(`${file}.key`, signer.key);
      writePrivateFile(`${file}.crt`, signer.certificate);
    }
  }
  return loadLeaf(path.join(directory, name), signer, {
    subject: {
      commonName: `system:node:${nodeName}`,
      organizations: ["system:nodes"],
    },
    usages: ["server auth"],
    validityMs: YEAR_MS,
    nowMs: clock.now(),
    ...hostNames(nodeName),
  });
}

/** Whether the authority made the certificate, or would have: what can't be read is a torn file of ours. */
function isOwn(certificate: string, authority: string): boolean {
  try {
    return new X509Certificate(certificate).verify(
      new X509Certificate(authority).publicKey,
    );
  } catch {
    return true;
  }
}

/**
 * The pair `<name>.crt` and `<name>.key` that was put into the directory from outside. It serves as it is and is never written over,
 * as at the reference. A pair of ours has its authority beside it, which is written first.
 * @returns undefined where there is none, or it is ours
 * @throws UsageError where one of the files is missing, or they do not make a pair
 */
export function foundServingPair(
  directory: string,
  name: string,
): CertificatePair | undefined {
  const file = path.join(directory, name);
  const certificate = readFileIfAny(`${file}.crt`);
  const key = readKeyIfAny(`${file}.key`);
  const authority = readFileIfAny(`${file}-ca.crt`);
  if (!certificate && !key) return undefined;
  if (authority && (!certificate || !key || isOwn(certificate, authority)))
    return undefined;
  const what = `--cert-dir: ${file}.crt, ${file}.key`;
  if (!certificate || !key)
    throw new UsageError(
      `${what}: certificate and key must be supplied as a pair`,
    );
  checkPair(what, { certificate, key });
  return { certificate, key };
}

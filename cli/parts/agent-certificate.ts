// The serving pair of a node agent that no cluster gives one: made in --cert-dir, signed by an authority of its own there,
// replaced when it is about to expire or the machine's names changed.
import * as net from "node:net";
import * as path from "node:path";
import {
  createCertificateAuthority,
  YEAR_MS,
  type CertificatePair,
} from "../../api/pki/certificate.ts";
import type { Clock } from "../../api/clock.ts";
import { loadLeaf } from "../../http-kit/certificates/kept-certificate.ts";
import {
  readFileIfAny,
  readKeyIfAny,
  writePrivateFile,
} from "../../http-kit/certificates/private-files.ts";
import { machineAddresses } from "./addresses.ts";
import { makeDirectory } from "./directories.ts";

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

// A certificate that is kept in two files and issued again in good time, or when it no longer fits what is asked for.
import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  issueCertificate,
  type CertificateOptions,
  type CertificatePair,
} from "../../api/pki/certificate.ts";
import { inspectCertificate, renewalTimeMs } from "../../api/pki/inspect.ts";
import {
  readFileIfAny,
  readKeyIfAny,
  writePrivateFile,
} from "./private-files.ts";

/** A certificate of the cluster kept in `<file>.crt` and `<file>.key`, renewed when due. For agents and other parts. */
export function loadLeaf(
  file: string,
  authority: CertificatePair,
  options: CertificateOptions,
): CertificatePair {
  const certificate = readFileIfAny(`${file}.crt`);
  const key = readKeyIfAny(`${file}.key`);
  if (certificate && key && isGood({ certificate, key }, authority, options))
    return { certificate, key };
  const issued = issueCertificate(authority, options);
  // The key first: a crash in between leaves a pair that does not fit, which is replaced.
  writePrivateFile(`${file}.key`, issued.key);
  writePrivateFile(`${file}.crt`, issued.certificate);
  return issued;
}

function isGood(
  pair: CertificatePair,
  authority: CertificatePair,
  options: CertificateOptions,
): boolean {
  try {
    const certificate = new X509Certificate(pair.certificate);
    const info = inspectCertificate(pair.certificate);
    const { commonName, organizations = [] } = options.subject;
    return (
      certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
      certificate.verify(
        new X509Certificate(authority.certificate).publicKey,
      ) &&
      options.nowMs < renewalTimeMs(info) &&
      options.nowMs >= info.notBeforeMs &&
      info.subject.commonName === commonName &&
      info.subject.organizations.join("\n") === organizations.join("\n") &&
      (options.dnsNames ?? []).every((name) => info.dnsNames.includes(name)) &&
      (options.ipAddresses ?? []).every(
        (address) => certificate.checkIP(address) !== undefined,
      )
    );
  } catch {
    return false;
  }
}

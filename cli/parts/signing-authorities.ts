// The authorities of the built-in certificate signers from --cluster-signing-*: one pair for all, or pairs of single
// signers; never both.
import type { CertificatePair } from "../../api/pki/certificate.ts";
import type { ControllerOptions } from "../../controllers/options.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { readPair } from "./option-files.ts";

/** Part of the option's name → signer. */
const signerNames: Readonly<Record<string, string>> = {
  "kube-apiserver-client": "kubernetes.io/kube-apiserver-client",
  "kubelet-client": "kubernetes.io/kube-apiserver-client-kubelet",
  "kubelet-serving": "kubernetes.io/kubelet-serving",
  "legacy-unknown": "kubernetes.io/legacy-unknown",
};

const pairOf = (
  values: OptionValues,
  prefix: string,
): CertificatePair | undefined =>
  readPair(values, `${prefix}-cert-file`, `${prefix}-key-file`);

export function signingAuthorities(
  values: OptionValues,
): Pick<ControllerOptions, "clusterSigningCa" | "signerCas"> {
  const general = pairOf(values, "cluster-signing");
  const single = Object.entries(signerNames).flatMap(([part, signer]) => {
    const pair = pairOf(values, `cluster-signing-${part}`);
    return pair ? [[signer, pair] as const] : [];
  });
  if (general && single.length > 0)
    throw new UsageError(
      "--cluster-signing-cert-file and --cluster-signing-key-file exclude the pairs of single signers",
    );
  return {
    ...(general ? { clusterSigningCa: general } : {}),
    ...(single.length > 0 ? { signerCas: Object.fromEntries(single) } : {}),
  };
}

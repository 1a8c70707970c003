// What the controllers sign with. The authorities of the built-in certificate signers from --cluster-signing-*: one pair for
// all, or pairs of single signers; never both. The key of tokens in Secrets of service accounts.
import type { CertificatePair } from "../../api/pki/certificate.ts";
import { JwtSigner } from "../../api/pki/jwt.ts";
import type { PrivateKeyPem } from "../../api/pki/keys.ts";
import type { ControllerOptions } from "../../controllers/options.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";
import { readKeyFile, readPair } from "./option-files.ts";

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

type Signer = Pick<ControllerOptions, "serviceAccountTokenSigner">;

/** By --service-account-private-key-file; undefined without it. Throws UsageError. */
export const tokenSigner = (values: OptionValues): Signer | undefined =>
  signerOf(values, "service-account-private-key-file");

/**
 * The same inside a whole cluster, else by the key that signs the API server's own tokens. Undefined where an external
 * signer does that: what another key signs would not be accepted.
 * @param values of the cluster
 */
export function clusterTokenSigner(
  controllerValues: OptionValues,
  values: OptionValues,
  ownKey: PrivateKeyPem,
): Signer | undefined {
  const given =
    tokenSigner(controllerValues) ??
    signerOf(values, "service-account-signing-key-file");
  if (given || values.optionalText("service-account-signing-endpoint"))
    return given;
  return { serviceAccountTokenSigner: new JwtSigner(ownKey) };
}

function signerOf(values: OptionValues, option: string): Signer | undefined {
  const file = values.optionalText(option);
  if (!file) return undefined;
  const key = readKeyFile(option, file, "private");
  try {
    return { serviceAccountTokenSigner: new JwtSigner(key) };
  } catch (error) {
    throw new UsageError(`--${option}: ${file}: ${(error as Error).message}`);
  }
}

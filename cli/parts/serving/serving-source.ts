// Files that the options of a port name: the pair that it serves with, pairs by server name, and authorities of its clients
// and of front proxies. They are followed while it serves.
import * as path from "node:path";
import * as os from "node:os";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { NamedPair } from "../../../api/pki/serving-tls.ts";
import { systemClock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readAuthorityFile, readPair } from "../option-files.ts";
import type { CertificateFiles } from "./followed-certificates.ts";
import { agentServingPair, foundServingPair } from "./made-pair.ts";
import { namedPairFiles, namedPairs } from "./serving-tls.ts";

/** The pair of a port; without files it is made here and stays. */
export type ServingSource = CertificateFiles<CertificatePair>;

/** A pair of two options; undefined where they are not given. */
export function pairFiles(
  values: OptionValues,
  certificateName: string,
  keyName: string,
): CertificateFiles<CertificatePair | undefined> {
  return {
    files: [certificateName, keyName].flatMap(
      (name) => values.optionalText(name) ?? [],
    ),
    read: () => readPair(values, certificateName, keyName),
  };
}

/** Authorities of an option, PEM; undefined where it is not given, or the program has no such option. */
export function authorityFiles(
  values: OptionValues,
  name: string,
): CertificateFiles<string | undefined> {
  const file = values.has(name) ? values.optionalText(name) : undefined;
  return {
    files: file ? [file] : [],
    read: () => (file ? readAuthorityFile(name, file) : undefined),
  };
}

/** Certificates by server name. */
export const namedFiles = (
  values: OptionValues,
): CertificateFiles<readonly NamedPair[]> => ({
  files: namedPairFiles(values),
  read: () => namedPairs(values),
});

/** The pair of --tls-cert-file and --tls-private-key-file; undefined: not given. */
export function givenServing(values: OptionValues): ServingSource | undefined {
  const { files, read } = pairFiles(
    values,
    "tls-cert-file",
    "tls-private-key-file",
  );
  return read() && { files, read: () => read()! };
}

/** The pair of --tls-cert-file, else one that was put into --cert-dir, else one made and kept there. */
export function partServing(values: OptionValues, name: string): ServingSource {
  const given = givenServing(values);
  if (given) return given;
  const directory = values.text("cert-dir");
  if (foundServingPair(directory, name)) {
    const file = path.join(directory, name);
    return {
      files: [`${file}.crt`, `${file}.key`],
      read() {
        const pair = foundServingPair(directory, name);
        if (!pair) throw new UsageError(`--cert-dir: ${file}.crt is gone`);
        return pair;
      },
    };
  }
  const pair = agentServingPair({
    ...{ directory, name, clock: systemClock },
    nodeName: os.hostname(),
  });
  return { files: [], read: () => pair };
}

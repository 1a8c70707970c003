// Where the pair that a port serves with comes from, and the files that a port's options name: those are followed while it
// serves.
import * as path from "node:path";
import * as os from "node:os";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import { systemClock } from "../../../api/clock.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readPair } from "../option-files.ts";
import { agentServingPair, foundServingPair } from "./made-pair.ts";
import { namedPairFiles } from "./serving-tls.ts";

export interface ServingSource {
  /** Empty: the pair is made here and stays. */
  readonly files: readonly string[];
  /** @throws UsageError while the files hold no pair */
  read(): CertificatePair;
}

/** The pair of --tls-cert-file and --tls-private-key-file; undefined: not given. */
export function givenServing(values: OptionValues): ServingSource | undefined {
  const names = ["tls-cert-file", "tls-private-key-file"] as const;
  const read = (): CertificatePair | undefined => readPair(values, ...names);
  if (!read()) return undefined;
  return {
    files: names.map((name) => values.text(name)),
    read: () => read()!,
  };
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

/** Files beside the pair that decide whom a port believes, and what it serves with by server name. */
export function trustFiles(values: OptionValues): string[] {
  const authorities = ["client-ca-file", "requestheader-client-ca-file"]
    .filter((name) => values.has(name))
    .flatMap((name) => values.optionalText(name) ?? []);
  return [...authorities, ...namedPairFiles(values)].filter(Boolean);
}

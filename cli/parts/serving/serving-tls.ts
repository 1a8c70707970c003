// The TLS options every port has: --tls-min-version, --tls-cipher-suites and --tls-sni-cert-key, read once and checked.
import { getCiphers } from "node:tls";
import {
  defaultTlsLimits,
  type NamedPair,
  type ServingTls,
  type TlsLimits,
} from "../../../api/pki/serving-tls.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { checkPair, readOptionFile } from "../option-files.ts";

const version13 = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
];

/** IANA's names, as the reference lists them, and OpenSSL's. */
const secureSuites: Readonly<Record<string, string>> = {
  ...Object.fromEntries(version13.map((name) => [name, name])),
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: "ECDHE-ECDSA-AES128-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: "ECDHE-ECDSA-AES128-GCM-SHA256",
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: "ECDHE-ECDSA-AES256-SHA",
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: "ECDHE-ECDSA-AES256-GCM-SHA384",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256:
    "ECDHE-ECDSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: "ECDHE-RSA-AES128-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: "ECDHE-RSA-AES128-GCM-SHA256",
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: "ECDHE-RSA-AES256-SHA",
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: "ECDHE-RSA-AES256-GCM-SHA384",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: "ECDHE-RSA-CHACHA20-POLY1305",
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-RSA-CHACHA20-POLY1305",
};

/** The reference takes these and warns. RC4 and triple DES are no longer in OpenSSL's library, so they are refused. */
const insecureSuites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: "ECDHE-ECDSA-AES128-SHA256",
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: "ECDHE-ECDSA-RC4-SHA",
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: "ECDHE-RSA-DES-CBC3-SHA",
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: "ECDHE-RSA-AES128-SHA256",
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: "ECDHE-RSA-RC4-SHA",
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: "DES-CBC3-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA: "AES128-SHA",
  TLS_RSA_WITH_AES_128_CBC_SHA256: "AES128-SHA256",
  TLS_RSA_WITH_AES_128_GCM_SHA256: "AES128-GCM-SHA256",
  TLS_RSA_WITH_AES_256_CBC_SHA: "AES256-SHA",
  TLS_RSA_WITH_AES_256_GCM_SHA384: "AES256-GCM-SHA384",
  TLS_RSA_WITH_RC4_128_SHA: "RC4-SHA",
};

const minVersions: Readonly<Record<string, TlsLimits["minVersion"]>> = {
  VersionTLS10: "TLSv1.2",
  VersionTLS11: "TLSv1.2",
  VersionTLS12: "TLSv1.2",
  VersionTLS13: "TLSv1.3",
};

/** Suites of TLS 1.3 are chosen where one is named; else all three are offered, as the reference does always. */
function ciphersOf(
  names: readonly string[],
  warn: (message: string) => void,
): string {
  if (names.length === 0) return defaultTlsLimits.ciphers;
  const available = new Set(getCiphers());
  const suites = names.map((name) => {
    const suite = secureSuites[name] ?? insecureSuites[name];
    if (!suite || !available.has(suite.toLowerCase()))
      throw new UsageError(
        `invalid argument "${name}" for "--tls-cipher-suites": ${suite ? "the cipher suite is not available" : "there is no such cipher suite"}`,
      );
    if (insecureSuites[name])
      warn(`Use of insecure cipher '${name}' detected.`);
    return suite;
  });
  const named13 = suites.some((suite) => version13.includes(suite));
  return [...(named13 ? [] : version13), ...suites].join(":");
}

/** `certificate,key[:name,…]`, its files and names apart. */
function parseNamedPair(text: string): {
  certificateFile: string;
  keyFile: string;
  names: string[];
} {
  const fail = (why: string): never => {
    throw new UsageError(
      `invalid argument "${text}" for "--tls-sni-cert-key": ${why}`,
    );
  };
  const [files = "", patterns, ...rest] = text.split(":");
  const [certificateFile, keyFile, ...others] = files.split(",");
  if (!certificateFile || !keyFile || others.length > 0 || rest.length > 0)
    return fail("must be CERTIFICATE,KEY or CERTIFICATE,KEY:NAME,…");
  const names = (patterns ?? "").split(",").filter(Boolean);
  for (const name of names)
    if (!/^(\*\.)?[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*$/.test(name))
      fail(`"${name}" is no host name, nor one after "*."`);
  return { certificateFile, keyFile, names };
}

const parsedNamedPairs = (values: OptionValues) =>
  values.list("tls-sni-cert-key").filter(Boolean).map(parseNamedPair);

/** @throws UsageError naming the option */
export const namedPairFiles = (values: OptionValues): string[] =>
  parsedNamedPairs(values).flatMap(({ certificateFile, keyFile }) => [
    certificateFile,
    keyFile,
  ]);

/**
 * Certificates by server name, in the option's order.
 * @throws UsageError naming the option
 */
export const namedPairs = (values: OptionValues): NamedPair[] =>
  parsedNamedPairs(values).map(({ certificateFile, keyFile, names }) => {
    const pair = {
      certificate: readOptionFile("tls-sni-cert-key", certificateFile),
      key: Buffer.from(readOptionFile("tls-sni-cert-key", keyFile)),
    };
    checkPair(`--tls-sni-cert-key: ${certificateFile},${keyFile}`, pair);
    return { ...pair, names };
  });

/** @throws UsageError naming the option */
export function servingTlsOf(
  values: OptionValues,
  warn: (message: string) => void,
): ServingTls {
  const asked = values.optionalText("tls-min-version");
  const minVersion = asked ? minVersions[asked]! : defaultTlsLimits.minVersion;
  if (asked === "VersionTLS10" || asked === "VersionTLS11")
    warn(`--tls-min-version=${asked}: TLS 1.2 is the least that is served`);
  const limits: TlsLimits = {
    minVersion,
    ciphers: ciphersOf(values.list("tls-cipher-suites"), warn),
  };
  const named = namedPairs(values);
  return { limits, ...(named.length > 0 ? { named } : {}) };
}

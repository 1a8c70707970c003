// Certificates made by openssl, for tests of what strangers may present: chains, constraints, odd extensions.
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";

/** Extensions of an authority, and of a client, one a line. */
export const authority =
  "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign";
export const client =
  "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth";

export interface Pair {
  readonly certificate: X509Certificate;
  /** Without ending: .crt and .key are beside each other. */
  readonly file: string;
}

/** A certificate with these extensions, signed by the issuer or by itself; "" names nothing. `more`: options of `openssl x509`. */
export type Issue = (
  name: string,
  extensions: string,
  issuer?: Pair,
  more?: readonly string[],
) => Pair;

export function issueIn(directory: string): Issue {
  let count = 0;
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
  };
  return (name, extensions, issuer, more = []) => {
    const file = path.join(directory, `c${count++}`);
    fs.writeFileSync(`${file}.ext`, extensions);
    openssl(
      ...["ecparam", "-name", "prime256v1", "-genkey", "-noout"],
      ...["-out", `${file}.key`],
    );
    openssl(
      ...["req", "-new", "-key", `${file}.key`],
      ...["-subj", name === "" ? "/" : `/CN=${name}`],
      ...["-out", `${file}.csr`],
    );
    openssl(
      ...["x509", "-req", "-in", `${file}.csr`, "-out", `${file}.crt`],
      ...["-days", "2", "-extfile", `${file}.ext`, "-set_serial", `${count}`],
      ...(issuer
        ? ["-CA", `${issuer.file}.crt`, "-CAkey", `${issuer.file}.key`]
        : ["-signkey", `${file}.key`]),
      ...more,
    );
    const certificate = new X509Certificate(fs.readFileSync(`${file}.crt`));
    return { certificate, file };
  };
}

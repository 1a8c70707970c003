// PEM in and out. Text outside of blocks is ignored, as everywhere.

interface PemBlock {
  /** e.g. CERTIFICATE */
  readonly label: string;
  readonly der: Buffer;
}

export function encodePem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

export function decodePem(text: string): PemBlock[] {
  const blocks = text.matchAll(
    /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g,
  );
  return [...blocks].map(([, label, body]) => ({
    label: label!,
    der: Buffer.from(body!, "base64"),
  }));
}

/** Every certificate of a bundle, one PEM text each. */
export function splitCertificates(bundle: string): string[] {
  return decodePem(bundle)
    .filter(({ label }) => label === "CERTIFICATE")
    .map(({ label, der }) => encodePem(label, der));
}

// Labels that are made of addresses, with dashes for dots and colons.
import * as packet from "dns-packet";

/** An address as one label: dots and colons become dashes. */
export function dashed(address: string): string {
  return address.replace(/[.:]/g, "-");
}

/** The address that a label with dashes is for. */
export function addressOfLabel(label: string): string | undefined {
  const four = /^(\d{1,3})-(\d{1,3})-(\d{1,3})-(\d{1,3})$/.exec(label);
  if (four) {
    const numbers = four.slice(1).map(Number);
    return numbers.every((n) => n < 256) ? numbers.join(".") : undefined;
  }
  const six = label.replaceAll("-", ":");
  if (!/^[0-9a-f:]{2,39}$/.test(six)) return undefined;
  try {
    packet.aaaa.encode(six);
    return six;
  } catch {
    return undefined;
  }
}

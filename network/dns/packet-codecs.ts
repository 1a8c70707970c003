// The codecs of dns-packet that its published types leave out: one for a record's data by type, one for names.
import type {} from "dns-packet";

interface Encoder<T> {
  /** Of record data with its two bytes of length in front. */
  encode(value: T): Buffer;
}

declare module "dns-packet" {
  export function record(type: string): Encoder<unknown>;
  export const name: Encoder<string>;
  export const aaaa: Encoder<string>;
}

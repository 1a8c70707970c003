// Options that name an address and a port.
import { isIP } from "node:net";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";

export interface PortPlace {
  readonly host: string;
  readonly port: number;
}

/**
 * `ADDRESS:PORT`, `:PORT` for all addresses, or an address, whose port is the usual one. Undefined: empty or port 0, none.
 * @throws UsageError
 */
export function portPlace(
  values: OptionValues,
  name: string,
  usualPort: number,
): PortPlace | undefined {
  const text = values.text(name);
  if (text === "" || text === "0") return undefined;
  if (isIP(text) !== 0) return { host: text, port: usualPort };
  const [, host = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  const port = Number(digits);
  if (digits === "" || port > 65_535 || (bare !== "" && isIP(bare) === 0))
    throw new UsageError(
      `invalid argument "${text}" for "--${name}": must be an address and a port, such as 127.0.0.1:${usualPort}`,
    );
  return port === 0 ? undefined : { host: bare || "0.0.0.0", port };
}

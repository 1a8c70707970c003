// Values as text, as the reference prints them.
import { Failure, ListValue, MapValue, Uint, type Value } from "./value.ts";

const maxPlainPower = 6;

/** The shortest digits that read back as the value; with an exponent below 1e-4 and where it has seven digits or more. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  if (value === 0) return "0";
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < maxPlainPower) return String(value);
  const sign = power < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** As messages of failures show a value: `[1, a]`, `{a: 1}`. */
export function shownValue(value: Value | Failure | undefined): string {
  if (typeof value === "number") return formatDouble(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof ListValue) {
    const items = Array.from({ length: value.size }, (_, index) =>
      shownValue(value.at(index)),
    );
    return `[${items.join(", ")}]`;
  }
  if (value instanceof MapValue) {
    const entries = [...value.keys()].map(
      (key) => `${shownValue(key)}: ${shownValue(value.get(key))}`,
    );
    return `{${entries.join(", ")}}`;
  }
  if (value instanceof Failure) return value.message;
  return typeof value === "object" && value !== null
    ? value.constructor.name
    : String(value);
}

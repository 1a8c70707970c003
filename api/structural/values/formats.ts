// The string formats that schemas may name (`format`), as the reference's validators take them, with their oddities: a
// host name of one label has at most one dash, behind its first character, for one. Other formats say nothing here.
// All of them take linear time.
import { isIPv4, isIPv6 } from "node:net";
import { parseDurationMs } from "../../duration.ts";
import { isMailAddress } from "./mail-address.ts";
import { isRequestUri } from "./request-uri.ts";

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

/** 32 digits, the dashes optional, of which one may say a version and one a variant. */
function isUuid(text: string, version = "", variant = ""): boolean {
  if (
    !/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(
      text,
    )
  )
    return false;
  const digits = text.replaceAll("-", "").toLowerCase();
  return (
    digits.startsWith(version, 12) &&
    (variant === "" || variant.includes(digits[16]!))
  );
}

/** By name without dashes. */
const checks: Readonly<Record<string, Check>> = {
  bsonobjectid: matches(/^[0-9a-fA-F]{24}$/),
  uri: isRequestUri,
  email: isMailAddress,
  hostname: isHostname,
  ipv4: (text) => text.includes(".") && isSloppyAddress(text),
  ipv6: (text) => text.includes(":") && !text.includes("%") && isIPv6(text),
  cidr: isSloppyCidr,
  mac: isHardwareAddress,
  uuid: (text) => isUuid(text),
  uuid3: (text) => isUuid(text, "3"),
  uuid4: (text) => isUuid(text, "4", "89ab"),
  uuid5: (text) => isUuid(text, "5", "89ab"),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: matches(/^(?=.{11}$)\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  hexcolor: matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  rgbcolor: isRgbColor,
  byte: (text) =>
    text.length > 0 &&
    text.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
};

/** The check of a format, or undefined for one that is not known. */
export function formatCheck(format: string): Check | undefined {
  const name = format.replaceAll("-", "");
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

const label = /^[a-zA-Z0-9\p{S}\p{L}-]+$/u;

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const parts = text.split(".");
  if (parts.some((part) => Buffer.byteLength(part) > 63)) return false;
  const last = parts.pop()!;
  const inside = (part: string): boolean =>
    label.test(part) && !part.startsWith("-") && !part.endsWith("-");
  if (parts.length > 0)
    return parts.every(inside) && /^[a-zA-Z\p{L}]{2,63}$/u.test(last);
  const [first = "", second = "", ...rest] = last;
  return (
    inside(first) &&
    (second === "" || label.test(second)) &&
    (rest.length === 0 || (!rest.includes("-") && label.test(rest.join(""))))
  );
}

/** Of addresses that may have zeros in front of their decimal parts. */
function withoutZeros(text: string): string {
  return text.replace(/(?<![0-9a-fA-F:])0{1,60}(?=[0-9]{1,3}(?:\.|$))/g, "");
}

function isSloppyAddress(text: string): boolean {
  if (text.length > 100 || text.includes("%")) return false;
  if (isIPv6(text)) return true;
  const plain = withoutZeros(text);
  return isIPv4(plain) || isIPv6(plain);
}

function isSloppyCidr(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (!/^[0-9]{1,9}$/.test(bits) || !isSloppyAddress(address)) return false;
  return Number(bits) <= (address.includes(":") ? 128 : 32);
}

/** Of 6, 8 or 20 bytes, with one kind of separator. */
function isHardwareAddress(text: string): boolean {
  if (text.length > 60) return false;
  const pairs = text.split(text.includes(":") ? ":" : "-");
  if (pairs.length > 1)
    return (
      [6, 8, 20].includes(pairs.length) &&
      pairs.every((pair) => /^[0-9a-fA-F]{2}$/.test(pair))
    );
  const words = text.split(".");
  return (
    [3, 4, 10].includes(words.length) &&
    words.every((word) => /^[0-9a-fA-F]{4}$/.test(word))
  );
}

const withoutBlanks = (text: string): string => text.replace(/[\s-]/g, "");

function isIsbn10(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 10; at++)
    sum += (at + 1) * (digits[at] === "X" ? 10 : Number(digits[at]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = withoutBlanks(text);
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < 13; at++)
    sum += (at % 2 === 0 ? 1 : 3) * Number(digits[at]);
  return sum % 10 === 0;
}

const cardNumber =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, "");
  if (!cardNumber.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const counted = at % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}

function isRgbColor(text: string): boolean {
  if (!text.startsWith("rgb(") || !text.endsWith(")")) return false;
  const parts = text.slice(4, -1).split(",");
  return (
    parts.length === 3 &&
    parts.every((part) => {
      const number = part.replace(/^[\t\n\f\r ]+/, "").trimEnd();
      return /^(0|[1-9][0-9]{0,2})$/.test(number) && Number(number) <= 255;
    })
  );
}

/** A day that exists. */
function isDate(text: string): boolean {
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [date = "", time = ""] = text.toLowerCase().split("t");
  if (!isDate(date)) return false;
  const [, hour = "99", minute = "99", second = "99"] =
    /^([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[^\n][0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})$/.exec(
      time,
    ) ?? [];
  return hour <= "23" && minute <= "59" && second <= "59";
}

/** Whole names, and how the longest of each kind begins: `hours` and `hourly` are hours. */
const durationUnits = /^(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)$/i;
const durationUnitStarts = /^(?:nano|micro|milli|sec|min|hour|day|week)/i;

/** Of the reference's language, or numbers with units anywhere in the text: `2 weeks`. */
function isDuration(text: string): boolean {
  try {
    parseDurationMs(text);
    return true;
  } catch {
    let found = false;
    for (const [, digits = "", unit = ""] of text.matchAll(
      /(?<![0-9])([0-9]+)[\t\n\f\r ]{0,100}([A-Za-zµ]{1,100})/g,
    )) {
      if (BigInt(digits.slice(0, 30)) >= 1n << 63n) return false;
      found ||= durationUnits.test(unit) || durationUnitStarts.test(unit);
    }
    return found;
  }
}

// A short stable hash of a JSON tree: 32-bit FNV-1a over its text with sorted keys, spelled in the alphabet of generated
// names (no vowels, nothing that looks alike), as pod-template-hash and controller-revision-hash are.

const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** @param salt a collision count; another one gives another hash of the same tree */
export function stableHash(tree: unknown, salt?: number): string {
  const text = canonicalText(tree) + (salt === undefined ? "" : `#${salt}`);
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193);
  }
  return safeEncode(String(hash >>> 0));
}

/** Letter by letter into an alphabet that makes no words. */
function safeEncode(text: string): string {
  let encoded = "";
  for (let index = 0; index < text.length; index++)
    encoded += alphabet[text.charCodeAt(index) % alphabet.length];
  return encoded;
}

function canonicalText(tree: unknown): string {
  if (Array.isArray(tree)) return `[${tree.map(canonicalText).join(",")}]`;
  if (typeof tree !== "object" || tree === null)
    return JSON.stringify(tree) ?? "null";
  const fields = Object.entries(tree)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${canonicalText(value)}`).join(",")}}`;
}

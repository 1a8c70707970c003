// $(VAR) references in commands, arguments, values and subPathExpr: `$$` is a dollar, an unknown name stays as written.

/** Example: expand("a $(X) $$(X) $(Y)", {X:"1"}) is "a 1 $(X) $(Y)". */
export function expand(
  text: string,
  lookup: (name: string) => string | undefined,
): string {
  if (!text.includes("$")) return text;
  let result = "";
  for (let index = 0; index < text.length; index++) {
    const char = text[index]!;
    if (char !== "$" || index + 1 >= text.length) {
      result += char;
      continue;
    }
    const following = text[index + 1]!;
    if (following === "$") {
      result += "$";
      index++;
    } else if (following === "(") {
      const end = text.indexOf(")", index + 2);
      if (end < 0) {
        result += "$(";
        index++;
        continue;
      }
      const name = text.slice(index + 2, end);
      result += lookup(name) ?? `$(${name})`;
      index = end;
    } else {
      result += `$${following}`;
      index++;
    }
  }
  return result;
}

/** As expand, but an unknown name is an error: what subPathExpr wants. */
export function expandStrictly(
  text: string,
  lookup: (name: string) => string | undefined,
): string {
  const missing: string[] = [];
  const result = expand(text, (name) => {
    const value = lookup(name);
    if (value === undefined) missing.push(name);
    return value;
  });
  if (missing.length > 0)
    throw new Error(
      `missing value for ${missing.map((name) => `"${name}"`).join(", ")}`,
    );
  return result;
}

// Field names that are no identifiers, as expressions write them: `foo-bar` is `foo__dash__bar`, `namespace` is
// `__namespace__`. Names that start with a digit or have other characters cannot be written.

const reserved = new Set(
  (
    "true false null in as break const continue else for function if import let loop package namespace return var " +
    "void while"
  ).split(" "),
);
const escapes: Record<string, string> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** Undefined for names that expressions cannot write. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => escapes[part] as string);
}

/**
 * The field that an expression means: after a dot a reserved name may also be written as it is, `self.namespace`
 * for `self.__namespace__`. No other field's escaped name has that form.
 */
export function fieldNamed<T>(
  fields: { get(name: string): T | undefined },
  name: string,
): T | undefined {
  return (
    fields.get(name) ??
    (reserved.has(name) ? fields.get(`__${name}__`) : undefined)
  );
}

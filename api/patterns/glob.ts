// Wildcards in names: of host names in credentials, of parts in --vmodule.

/** `*` for any characters, `?` for one; in time that grows with the product of both lengths at most. */
export function matchesGlob(pattern: string, text: string): boolean {
  let star = -1;
  let resume = 0;
  let at = 0;
  let index = 0;
  while (index < text.length) {
    const wanted = pattern[at];
    if (wanted === "*") {
      star = at++;
      resume = index;
    } else if (wanted === "?" || wanted === text[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

// Image references as the reference normalises them: `busybox` is docker.io/library/busybox:latest.

/** Full name with a tag (default latest) or digest. Throws on text that can't be an image name. */
export function normalizeImageName(reference: string): string {
  const digestAt = reference.indexOf("@");
  const digest = digestAt === -1 ? "" : reference.slice(digestAt);
  let name = digestAt === -1 ? reference : reference.slice(0, digestAt);
  const slash = name.lastIndexOf("/");
  const colon = name.indexOf(":", slash + 1);
  const tag = colon === -1 ? "" : name.slice(colon + 1);
  if (colon !== -1) name = name.slice(0, colon);
  const first = name.split("/")[0]!;
  const hasDomain =
    name.includes("/") &&
    (/[.:]/.test(first) ||
      first === "localhost" ||
      first !== first.toLowerCase());
  let domain = hasDomain ? first : "docker.io";
  let path = hasDomain ? name.slice(first.length + 1) : name;
  if (domain === "index.docker.io") domain = "docker.io";
  if (domain === "docker.io" && !path.includes("/")) path = `library/${path}`;
  if (
    !/^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/.test(
      path,
    ) ||
    !/^[A-Za-z0-9.-]+(?::[0-9]+)?$/.test(domain) ||
    (tag !== "" && !/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(tag)) ||
    (digest !== "" && !/^@[a-z0-9]+:[0-9a-f]{32,}$/.test(digest))
  )
    throw new Error(`invalid image name ${JSON.stringify(reference)}`);
  const ending =
    digest !== ""
      ? `${tag === "" ? "" : `:${tag}`}${digest}`
      : `:${tag === "" ? "latest" : tag}`;
  return `${domain}/${path}${ending}`;
}

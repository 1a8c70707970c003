// Why a container waits when its image could not be pulled. Runtimes such as CRI-O begin their text with what went wrong:
// these two reasons replace ErrImagePull, in the reference's words.
interface PullFailure {
  /** Of the container's waiting state. */
  readonly reason: string;
  readonly message: string;
}

const causes: readonly (readonly [reason: string, because: string])[] = [
  ["RegistryUnavailable", "the registry is unavailable"],
  ["SignatureValidationFailed", "the signature validation failed"],
];

/** @param text what the runtime said */
export function pullFailure(image: string, text: string): PullFailure {
  for (const [reason, because] of causes)
    if (text.startsWith(reason))
      return {
        reason,
        message: `image pull failed for ${image} because ${because}${text.slice(reason.length)}`,
      };
  return { reason: "ErrImagePull", message: text };
}

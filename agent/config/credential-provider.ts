// A program that gives credentials for images (--image-credential-provider-config).

export interface CredentialProvider {
  readonly name: string;
  /** Absolute path. */
  readonly program: string;
  readonly apiVersion: string;
  /** Registries, `host[:port][/path]`, with wildcards in the labels of the host. */
  readonly matchImages: readonly string[];
  /** How long an answer is kept that does not say so itself; 0: not at all. */
  readonly defaultCacheMs: number;
  readonly arguments: readonly string[];
  /** Added to the agent's own environment. */
  readonly environment: Readonly<Record<string, string>>;
}

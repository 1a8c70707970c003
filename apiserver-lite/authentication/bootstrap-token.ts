// Bootstrap tokens, `abcdef.0123456789abcdef`: secrets of their own type in kube-system let new nodes ask for their
// certificates.
import { timingSafeEqual } from "node:crypto";
import type { Clock } from "../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type { StateReader } from "../resources/state.ts";

const FORM = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const TYPE = "bootstrap.kubernetes.io/token";
const GROUP = "system:bootstrappers";
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;

export class BootstrapTokenAuthenticator implements TokenAuthenticator {
  constructor(
    private readonly state: StateReader,
    private readonly clock: Clock,
  ) {}

  authenticateToken(token: string): Promise<UserInfo | undefined> {
    const match = FORM.exec(token);
    if (!match) return Promise.resolve(undefined);
    const [, id = "", secret = ""] = match;
    const user = this.#userOf(id, secret);
    return user ? Promise.resolve(user) : Promise.reject(errors.unauthorized());
  }

  #userOf(id: string, secret: string): UserInfo | undefined {
    const object = this.state.read(
      "",
      "secrets",
      "kube-system",
      `bootstrap-token-${id}`,
    );
    if (!object || object["type"] !== TYPE || object.metadata.deletionTimestamp)
      return undefined;
    const data = (object["data"] ?? {}) as Record<string, string>;
    const field = (name: string): string =>
      Buffer.from(data[name] ?? "", "base64").toString();
    const expected = Buffer.from(field("token-secret"));
    const given = Buffer.from(secret);
    if (expected.length !== given.length || !timingSafeEqual(expected, given))
      return undefined;
    if (
      field("token-id") !== id ||
      field("usage-bootstrap-authentication") !== "true"
    )
      return undefined;
    const expiration = field("expiration");
    // An expiration that can't be read as a time counts as passed.
    if (expiration !== "" && !(Date.parse(expiration) > this.clock.now()))
      return undefined;
    const extraGroups = field("auth-extra-groups")
      .split(",")
      .map((group) => group.trim())
      .filter((group) => group !== "");
    if (!extraGroups.every((group) => EXTRA_GROUP.test(group)))
      return undefined;
    return {
      name: `system:bootstrap:${id}`,
      groups: [GROUP, ...extraGroups],
      extra: {},
    };
  }
}

// Which groups a request's user gets for how it was authenticated.
import type { UserInfo } from "../../api/contracts.ts";

export const ANONYMOUS_USER = "system:anonymous";
const AUTHENTICATED_GROUP = "system:authenticated";

/** Adds the group of everybody who is known. */
export function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.groups.includes(AUTHENTICATED_GROUP) || user.name === ANONYMOUS_USER)
    return user;
  return { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}

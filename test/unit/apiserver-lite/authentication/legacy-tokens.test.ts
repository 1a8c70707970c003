// Tokens of Secrets: what lets them in, and each thing that no longer does.
import { fixedKeys } from "../../../../apiserver-lite/authentication/service-account/public-keys.ts";
import { JwtSigner, verificationKey } from "../../../../api/pki/jwt.ts";
import { createPrivateKeyPem } from "../../../../api/pki/keys.ts";
import type { AnyObject } from "../../../../api/object.ts";
import { LegacyTokenAuthenticator } from "../../../../apiserver-lite/authentication/service-account/legacy-token-authenticator.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { FakeState } from "../fake-state.ts";

const key = createPrivateKeyPem();
const signer = new JwtSigner(key);
const own = "kubernetes.io/serviceaccount";
const good = {
  iss: "kubernetes/serviceaccount",
  sub: "system:serviceaccount:ns:sa",
  [`${own}/namespace`]: "ns",
  [`${own}/secret.name`]: "s",
  [`${own}/service-account.name`]: "sa",
  [`${own}/service-account.uid`]: "sa-uid",
};
const token = signer.sign(good);
const user = {
  name: "system:serviceaccount:ns:sa",
  uid: "sa-uid",
  groups: ["system:serviceaccounts", "system:serviceaccounts:ns"],
  extra: {},
};
const object = (metadata: object, more: object = {}): AnyObject =>
  ({ metadata: { namespace: "ns", ...metadata }, ...more }) as AnyObject;
const secretWith = (held: string, metadata: object = {}): AnyObject =>
  object(
    { name: "s", uid: "s-uid", ...metadata },
    { data: { token: Buffer.from(held).toString("base64") } },
  );

let state: FakeState;
let used: string[];
let clock: FakeClock;

function authenticator(lookup = true): LegacyTokenAuthenticator {
  return new LegacyTokenAuthenticator({
    keys: fixedKeys([verificationKey(key)]),
    audiences: ["api"],
    lookup,
    state,
    clock,
    noteUse: ({ metadata }, date) => void used.push(`${metadata.name} ${date}`),
  });
}
beforeEach(() => {
  state = new FakeState();
  used = [];
  clock = new FakeClock(Date.UTC(2025, 5, 1, 23));
  state.put("", "serviceaccounts", object({ name: "sa", uid: "sa-uid" }));
  state.put("", "secrets", secretWith(token));
});

test("the token of a Secret is its account, on every request", async () => {
  const tokens = authenticator();
  expect(await tokens.authenticateToken(token)).toEqual(user);
  expect(await tokens.authenticateToken(token, ["other", "api"])).toEqual(user);
  expect(used).toEqual(["s 2025-06-01", "s 2025-06-01"]);
  await expect(tokens.authenticateToken(token, ["other"])).rejects.toThrow();
});

test("a day of use is noted once", async () => {
  const label = (date: string): void =>
    state.put(
      "",
      "secrets",
      secretWith(token, {
        labels: { "kubernetes.io/legacy-token-last-used": date },
      }),
    );
  const tokens = authenticator();
  // One's own day, and that of a server whose clock is ahead.
  for (const date of ["2025-06-01", "2025-06-02"]) {
    label(date);
    await tokens.authenticateToken(token);
  }
  expect(used).toEqual([]);
  label("2025-05-31");
  await tokens.authenticateToken(token);
  expect(used).toEqual(["s 2025-06-01"]);
});

test.each<[string, () => void]>([
  ["no Secret", () => state.remove("", "secrets", "ns", "s")],
  [
    "a Secret with another token",
    () => state.put("", "secrets", secretWith(`${token}x`)),
  ],
  ["an empty Secret", () => state.put("", "secrets", secretWith(""))],
  [
    "a Secret on its way out",
    () =>
      state.put(
        "",
        "secrets",
        secretWith(token, { deletionTimestamp: "2025-06-01T00:00:00Z" }),
      ),
  ],
  [
    "a Secret that is marked as invalid",
    () =>
      state.put(
        "",
        "secrets",
        secretWith(token, {
          labels: { "kubernetes.io/legacy-token-invalid-since": "2025-05-01" },
        }),
      ),
  ],
  ["no account", () => state.remove("", "serviceaccounts", "ns", "sa")],
  [
    "another account of the name",
    () =>
      state.put("", "serviceaccounts", object({ name: "sa", uid: "later" })),
  ],
  [
    "an account on its way out",
    () =>
      state.put(
        "",
        "serviceaccounts",
        object({
          name: "sa",
          uid: "sa-uid",
          deletionTimestamp: "2025-06-01T00:00:00Z",
        }),
      ),
  ],
])("%s: refused, also when it was let in before", async (_name, change) => {
  const tokens = authenticator();
  await tokens.authenticateToken(token);
  change();
  await expect(tokens.authenticateToken(token)).rejects.toMatchObject({
    code: 401,
  });
  // Without the look the signature decides alone.
  expect(await authenticator(false).authenticateToken(token)).toEqual(user);
});

test.each(
  Object.keys(good)
    .filter((claim) => claim !== "iss")
    .flatMap((claim): [string, unknown][] => [
      [claim, ""],
      [claim, 5],
      [claim, "system:serviceaccount:ns:other"],
    ]),
)("a signed token whose %s is %j is refused", async (claim, value) => {
  const changed = { ...good, [claim]: value };
  const bad = signer.sign(changed);
  state.put("", "secrets", secretWith(bad));
  await expect(authenticator().authenticateToken(bad)).rejects.toMatchObject({
    code: 401,
  });
});

test("another's signature and other tokens", async () => {
  const foreign = new JwtSigner(createPrivateKeyPem()).sign(good);
  state.put("", "secrets", secretWith(foreign));
  for (const lookup of [true, false])
    await expect(
      authenticator(lookup).authenticateToken(foreign),
    ).rejects.toMatchObject({ code: 401 });
  expect(used).toEqual([]);
  for (const alien of ["", "a.b.c", signer.sign({ ...good, iss: "https://x" })])
    expect(await authenticator().authenticateToken(alien)).toBeUndefined();
});

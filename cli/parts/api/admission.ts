// Which admission plugins an API server runs, in the reference's order: the default ones, those of
// --enable-admission-plugins, without those of --disable-admission-plugins.
import type { Authorizer } from "../../../api/contracts.ts";
import {
  type AdmissionPlugin,
  OFF_BY_DEFAULT,
  orderedAdmissionPlugins,
} from "../../../apiserver-lite/index.ts";
import type { OptionValues } from "../../options/parse.ts";
import { refusedText } from "../../options/refusal.ts";
import { UsageError } from "../../options/table.ts";

/** Plugins of the reference that are not there yet: they can be disabled, and enabling one refuses the start. */
const missing = [
  "ClusterTrustBundleAttest",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

/** @param secure whether plugins a secure cluster needs (NodeRestriction) are on by default */
export function chooseAdmission(
  values: OptionValues,
  authorizer: Authorizer,
  secure: boolean,
): readonly AdmissionPlugin[] {
  const all = orderedAdmissionPlugins(authorizer, {
    notReady: values.number("default-not-ready-toleration-seconds"),
    unreachable: values.number("default-unreachable-toleration-seconds"),
  });
  const known = new Set([...all.map(({ name }) => name), ...missing]);
  const enabled = new Set(values.list("enable-admission-plugins"));
  const disabled = new Set(values.list("disable-admission-plugins"));
  for (const [option, names] of [
    ["enable-admission-plugins", enabled],
    ["disable-admission-plugins", disabled],
  ] as const) {
    for (const name of names)
      if (!known.has(name))
        throw new UsageError(
          `invalid argument "${name}" for "--${option}": there is no such admission plugin`,
        );
  }
  for (const name of enabled)
    if (disabled.has(name))
      throw new UsageError(
        `admission plugin ${name} is both enabled and disabled`,
      );
  for (const name of missing)
    if (enabled.has(name))
      throw new UsageError(refusedText(`--enable-admission-plugins: ${name}`));
  return all.filter(
    ({ name }) =>
      !disabled.has(name) &&
      (enabled.has(name) || secure || !OFF_BY_DEFAULT.has(name)),
  );
}

// AlwaysAdmit and AlwaysDeny: the reference keeps both for old configurations.
import { errors } from "../../../api/errors.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { nameOf } from "./requests.ts";

export const alwaysAdmit: AdmissionPlugin = { name: "AlwaysAdmit" };

function deny(attributes: AdmissionAttributes): never {
  throw errors.forbidden(
    attributes.resource,
    nameOf(attributes),
    "admission control is denying all modifications",
  );
}

export const alwaysDeny: AdmissionPlugin = {
  name: "AlwaysDeny",
  writesWhole: true,
  admit: deny,
  validate: deny,
};

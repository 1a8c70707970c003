// DenyServiceExternalIPs: no Service gets external addresses that it did not have.
import { errors } from "../../../api/errors.ts";
import type { Service } from "../../../api/types/core-v1.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { typed } from "../../resources/typed.ts";
import { nameOf } from "./requests.ts";

export const denyServiceExternalIPs: AdmissionPlugin = {
  name: "DenyServiceExternalIPs",
  validate(attributes) {
    const { operation, resource, subresource, object, oldObject } = attributes;
    if (
      resource.group !== "" ||
      resource.resource !== "services" ||
      subresource !== "" ||
      (operation !== "CREATE" && operation !== "UPDATE")
    )
      return;
    const wanted = typed<Service>(object)?.spec?.externalIPs ?? [];
    const known = typed<Service>(oldObject)?.spec?.externalIPs ?? [];
    if (wanted.every((address) => known.includes(address))) return;
    throw errors.forbidden(
      resource,
      nameOf(attributes),
      "Use of external IPs is denied by admission control",
    );
  },
};

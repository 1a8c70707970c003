// How a part that runs alone encodes what it sends to the API server.
import type { ContentType } from "../../client/content/body-codec.ts";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";

/**
 * --kube-api-content-type; empty is the default. The option's check has refused what is none of the encodings.
 * @param gates the part's feature gates; CBOR needs ClientsAllowCBOR, as at the reference
 */
export function clientContentType(
  values: OptionValues,
  gates: Readonly<Record<string, boolean>>,
): ContentType {
  const text = values.text("kube-api-content-type");
  switch (text) {
    case "application/json":
      return text;
    case "application/cbor":
      if (gates["ClientsAllowCBOR"]) return text;
      throw new UsageError(
        "--kube-api-content-type: application/cbor needs the feature gate ClientsAllowCBOR",
      );
    default:
      return "application/vnd.kubernetes.protobuf";
  }
}

// CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest: who may approve, sign,
// ask for and attest what.
import type { Authorizer, UserInfo } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import { parseCsr } from "../../../api/pki/signing-request.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { changesOnlyOwnership, createdObject, nameOf } from "./requests.ts";

const GROUP = "certificates.k8s.io";
const API_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

interface RequestFields {
  spec?: { signerName?: string; request?: string };
  status?: { certificate?: string; conditions?: { type: string }[] };
}

export function createCertificateApproval(
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    async validate(attributes) {
      if (!isRequestUpdate(attributes, "approval")) return;
      await requireSigner("approve", attributes, authorizer);
    },
  };
}

export function createCertificateSigning(
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    async validate(attributes) {
      if (!isRequestUpdate(attributes, "status")) return;
      const now = (attributes.object ?? {}) as RequestFields;
      const before = (attributes.oldObject ?? {}) as RequestFields;
      const failed = (fields: RequestFields): boolean =>
        (fields.status?.conditions ?? []).some(({ type }) => type === "Failed");
      const signed = now.status?.certificate !== before.status?.certificate;
      if (!signed && failed(now) === failed(before)) return;
      await requireSigner("sign", attributes, authorizer);
    },
  };
}

/** A client certificate from the API makes no user a superuser. */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  validate(attributes) {
    const object = createdObject(
      attributes,
      GROUP,
      "certificatesigningrequests",
    );
    const { spec } = (object ?? {}) as RequestFields;
    if (spec?.signerName !== API_CLIENT_SIGNER) return;
    let organizations: readonly string[];
    try {
      organizations = parseCsr(
        Buffer.from(spec.request ?? "", "base64").toString(),
      ).subject.organizations;
    } catch (error) {
      throw errors.forbidden(
        attributes.resource,
        nameOf(attributes),
        `unable to parse csr: ${(error as Error).message}`,
      );
    }
    if (!organizations.includes("system:masters")) return;
    throw errors.forbidden(
      attributes.resource,
      nameOf(attributes),
      `use of ${API_CLIENT_SIGNER} signer with system:masters group is not allowed`,
    );
  },
};

/** A bundle of a signer is written by whom the signer lets attest; writes of the garbage collector's fields pass. */
export function createTrustBundleAttest(
  authorizer: Authorizer,
): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    async validate(attributes) {
      const { operation, resource, object, oldObject, user } = attributes;
      if (
        resource.group !== GROUP ||
        resource.resource !== "clustertrustbundles" ||
        (operation !== "CREATE" && operation !== "UPDATE")
      )
        return;
      const signer = (object as RequestFields | undefined)?.spec?.signerName;
      if (!signer) return;
      if (oldObject && object && changesOnlyOwnership(object, oldObject))
        return;
      if (await mayUseSigner("attest", user, signer, authorizer)) return;
      throw errors.forbidden(
        resource,
        nameOf(attributes),
        `user not permitted to attest for signerName ${JSON.stringify(signer)}`,
      );
    },
  };
}

function isRequestUpdate(
  { resource, operation, subresource }: AdmissionAttributes,
  wanted: string,
): boolean {
  return (
    resource.group === GROUP &&
    resource.resource === "certificatesigningrequests" &&
    operation === "UPDATE" &&
    subresource === wanted
  );
}

async function requireSigner(
  verb: "approve" | "sign",
  attributes: AdmissionAttributes,
  authorizer: Authorizer,
): Promise<void> {
  const signer =
    ((attributes.oldObject ?? attributes.object) as RequestFields | undefined)
      ?.spec?.signerName ?? "";
  if (await mayUseSigner(verb, attributes.user, signer, authorizer)) return;
  throw errors.forbidden(
    attributes.resource,
    nameOf(attributes),
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
}

/** For the signer itself, or for all of its domain. */
async function mayUseSigner(
  verb: string,
  user: UserInfo,
  signer: string,
  authorizer: Authorizer,
): Promise<boolean> {
  const domain = signer.split("/", 1)[0] ?? "";
  for (const name of [signer, `${domain}/*`]) {
    const { decision } = await authorizer.authorize({
      user,
      verb,
      path: "",
      resourceRequest: true,
      group: GROUP,
      version: "*",
      resource: "signers",
      subresource: "",
      namespace: "",
      name,
    });
    if (decision === "allow") return true;
  }
  return false;
}

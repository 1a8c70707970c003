// CertificateSigningRequests: who asked is written by the server; approval and certificate each have a subresource.
import { formatTime } from "../../../api/clock.ts";
import { humanDuration } from "../../../api/duration.ts";
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { sameValue } from "../field-checks.ts";

const asRequest = (object: Readonly<AnyObject>): CertificateSigningRequest =>
  object as unknown as CertificateSigningRequest;

function conditionText({ status }: CertificateSigningRequest): string {
  const types = new Set((status?.conditions ?? []).map(({ type }) => type));
  const words = types.has("Denied")
    ? ["Denied"]
    : types.has("Approved")
      ? ["Approved"]
      : ["Pending"];
  if (types.has("Failed")) words.push("Failed");
  if (status?.certificate) words.push("Issued");
  return words.join(",");
}

function pemProblems(text: string | undefined): FieldError[] {
  if (!text) return [fieldErrors.required("spec.request")];
  const pem = Buffer.from(text, "base64").toString("latin1");
  if (/-----BEGIN (NEW )?CERTIFICATE REQUEST-----/.test(pem)) return [];
  return [
    fieldErrors.invalid(
      "spec.request",
      "<request>",
      "PEM block type must be CERTIFICATE REQUEST",
    ),
  ];
}

export const certificateSigningRequestStrategy: ResourceStrategy = {
  countsGeneration: false,
  prepareForCreate(object, { user }) {
    const request = asRequest(object);
    request.spec = {
      ...request.spec,
      username: user.name,
      ...(user.uid ? { uid: user.uid } : {}),
      groups: [...user.groups],
      ...(Object.keys(user.extra).length > 0
        ? {
            extra: Object.fromEntries(
              Object.entries(user.extra).map(([key, values]) => [
                key,
                [...values],
              ]),
            ),
          }
        : {}),
    };
    if (!user.uid) delete request.spec.uid;
    request.status = {};
  },
  prepareForUpdate(object, old) {
    // Neither the request nor who asked can be changed.
    asRequest(object).spec = asRequest(old).spec;
    asRequest(object).status = { ...asRequest(old).status };
  },
  validate(object) {
    const { spec } = asRequest(object);
    const problems = pemProblems(spec?.request);
    if (!spec?.signerName)
      problems.push(fieldErrors.required("spec.signerName"));
    else if (!/^[^/]+\.[^/]+\/.+$/.test(spec.signerName)) {
      problems.push(
        fieldErrors.invalid(
          "spec.signerName",
          spec.signerName,
          "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        ),
      );
    }
    if (!spec?.usages?.length) {
      problems.push(
        fieldErrors.required(
          "spec.usages",
          "usages are required for certificates.k8s.io/v1 requests",
        ),
      );
    }
    if (spec?.expirationSeconds !== undefined && spec.expirationSeconds < 600) {
      problems.push(
        fieldErrors.invalid(
          "spec.expirationSeconds",
          spec.expirationSeconds,
          "may not specify a duration less than 600 seconds (10 minutes)",
        ),
      );
    }
    return problems;
  },
  status: {
    resetPaths: [["spec"], ["status", "conditions"]],
    prepareForUpdate(object, old, context) {
      const [request, was] = [asRequest(object), asRequest(old)];
      request.spec = was.spec;
      const settled = (was.status?.conditions ?? []).filter(
        ({ type }) => type === "Approved" || type === "Denied",
      );
      const others = (request.status?.conditions ?? []).filter(
        ({ type }) => type !== "Approved" && type !== "Denied",
      );
      request.status = {
        ...request.status,
        conditions: [...settled, ...others],
      };
      stamp(request, formatTime(context.clock.now()));
      if (request.status.conditions?.length === 0)
        delete request.status.conditions;
    },
    validateUpdate(object, old) {
      const [now, was] = [
        asRequest(object).status?.certificate,
        asRequest(old).status?.certificate,
      ];
      return was && now !== was
        ? [
            fieldErrors.forbidden(
              "status.certificate",
              "updates may not modify a set certificate",
            ),
          ]
        : [];
    },
  },
  selectableFields: (object) => ({
    "spec.signerName": asRequest(object).spec?.signerName ?? "",
  }),
  printRow: (object, now) => {
    const request = asRequest(object);
    const { metadata, spec } = request;
    return [
      metadata.name,
      formatAge(metadata.creationTimestamp, now),
      spec.signerName || "<none>",
      spec.username ?? "",
      spec.expirationSeconds === undefined
        ? "<none>"
        : humanDuration(spec.expirationSeconds * 1000),
      conditionText(request),
    ];
  },
  parts: {
    approval: {
      resetPaths: [["spec"], ["status", "certificate"]],
      prepareForUpdate(object, old, context) {
        const [request, was] = [asRequest(object), asRequest(old)];
        request.spec = was.spec;
        request.status = {
          ...was.status,
          conditions: request.status?.conditions ?? [],
        };
        stamp(request, formatTime(context.clock.now()), was);
        if (request.status.conditions?.length === 0)
          delete request.status.conditions;
      },
    },
  },
};

function stamp(
  request: CertificateSigningRequest,
  now: string,
  old?: CertificateSigningRequest,
): void {
  request.status!.conditions = (request.status!.conditions ?? []).map(
    (condition) => {
      const before = old?.status?.conditions?.find(
        ({ type }) => type === condition.type,
      );
      const same = before && sameValue(before.status, condition.status);
      return {
        ...condition,
        lastUpdateTime: condition.lastUpdateTime ?? now,
        lastTransitionTime:
          condition.lastTransitionTime ??
          (same ? before.lastTransitionTime : undefined) ??
          now,
      };
    },
  );
}

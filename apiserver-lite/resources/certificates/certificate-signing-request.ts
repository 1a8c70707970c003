// CertificateSigningRequests: who asked is written by the server; approval and certificate each have a subresource.
import { transitionTime } from "../../../api/objects/conditions.ts";
import { formatTime } from "../../../api/clock.ts";
import { humanDuration } from "../../../api/duration.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import {
  validateConditions,
  validateIssued,
  validateRequestSpec,
} from "./request-validation.ts";

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

export const certificateSigningRequestStrategy: ResourceStrategy = {
  countsGeneration: false,
  // The reference looks at what is asked for only.
  validateName: () => [],
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
  validate: (object) => [
    ...validateRequestSpec(asRequest(object).spec),
    ...validateConditions(asRequest(object).status?.conditions),
  ],
  status: {
    resetPaths: [["spec"], ["status", "conditions"]],
    prepareForUpdate(object, old, context) {
      const [request, was] = [asRequest(object), asRequest(old)];
      request.spec = was.spec;
      request.status = { ...request.status };
      stamp(request, formatTime(context.clock.now()), was);
      if (request.status.conditions?.length === 0)
        delete request.status.conditions;
    },
    validateUpdate: (object, old) => [
      ...validateConditions(asRequest(object).status?.conditions),
      ...validateIssued(asRequest(object).status, asRequest(old).status),
    ],
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
      validateUpdate: (object) =>
        validateConditions(asRequest(object).status?.conditions),
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
      return {
        ...condition,
        lastUpdateTime: condition.lastUpdateTime ?? now,
        lastTransitionTime:
          condition.lastTransitionTime ??
          transitionTime(before, condition.status, now),
      };
    },
  );
}

// CertificateSigningRequests: who asked is written by the server; approval and certificate each have a subresource.
import { transitionTime } from "../../../api/objects/conditions.ts";
import { formatTime } from "../../../api/clock.ts";
import { humanDuration } from "../../../api/duration.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { Upgrade } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import {
  validateConditions,
  validateIssued,
  validateRequestSpec,
} from "./request-validation.ts";

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

/** Of objects that servers of the years before wrote. */
const fromBeta: Upgrade = ({ spec }) => {
  if (!spec) return;
  spec.signerName ??= "kubernetes.io/legacy-unknown";
  spec.usages ??= ["digital signature", "key encipherment"];
};

export const certificateSigningRequestStrategy =
  strategyOf<CertificateSigningRequest>({
    upgrades: { "certificates.k8s.io/v1beta1": fromBeta },
    countsGeneration: false,
    // No manager owns a request, as it can't be changed.
    resetPaths: [["spec"], ["status"]],
    // The reference looks at what is asked for only.
    validateName: () => [],
    prepareForCreate(request, { user }) {
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
      // What the request says of its user is never believed.
      if (!user.uid) delete request.spec.uid;
      if (Object.keys(user.extra).length === 0) delete request.spec.extra;
      request.status = {};
    },
    prepareForUpdate(object, old) {
      // Neither the request nor who asked can be changed.
      object.spec = old.spec;
      object.status = { ...old.status };
    },
    validate: (object) => [
      ...validateRequestSpec(object.spec),
      ...validateConditions(object.status?.conditions),
    ],
    status: {
      resetPaths: [["spec"], ["status", "conditions"]],
      prepareForUpdate(request, was, context) {
        request.status = { ...request.status };
        stamp(request, formatTime(context.clock.now()), was);
        if (request.status.conditions?.length === 0)
          delete request.status.conditions;
      },
      validateUpdate: (object, old) => [
        ...validateConditions(object.status?.conditions),
        ...validateIssued(object.status, old.status),
      ],
    },
    selectableFields: (object) => ({
      "spec.signerName": object.spec?.signerName ?? "",
    }),
    printRow: (request, now) => {
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
        prepareForUpdate(request, was, context) {
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
          validateConditions(object.status?.conditions),
      },
    },
  });

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

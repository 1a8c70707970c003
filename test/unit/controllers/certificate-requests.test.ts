// Requests for certificates: those that may be approved only later, and when each is removed.
import { formatTime } from "../../../api/clock.ts";
import { createCertificateAuthority } from "../../../api/pki/certificate.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { certificateSigningRequests } from "../../../client/resources.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
const start = async (controller: string): Promise<void> => {
  clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: [controller] },
  });
};
afterEach(() => plane.stop());

const requests = () => plane.client.resource(certificateSigningRequests);
const all = () =>
  plane.api.all<CertificateSigningRequest>(certificateSigningRequests);

describe("approving", () => {
  const granted = new Set<string>();
  const messages: (string | undefined)[] = [];
  let asked = 0;
  beforeEach(async () => {
    granted.clear();
    await start("certificatesigningrequest-approving-controller");
    messages.length = 0;
    plane.api.intercept = ({ resource, subresource, body }) => {
      if (subresource === "approval")
        messages.push(
          (body as CertificateSigningRequest).status!.conditions![0]!.message,
        );
      if (resource.resource !== "subjectaccessreviews") return;
      const review = body as {
        metadata: { name: string };
        spec: { resourceAttributes: { subresource: string } };
        status?: object;
      };
      // This API keeps them, under names of their own.
      review.metadata.name = `review-${asked++}`;
      review.status = {
        allowed: granted.has(review.spec.resourceAttributes.subresource),
      };
    };
    await requests().create({
      metadata: { name: "r" },
      spec: {
        username: "system:node:a",
        signerName: "kubernetes.io/kube-apiserver-client-kubelet",
        usages: ["digital signature", "client auth"],
        request: Buffer.from(
          createCsr(createPrivateKeyPem(), {
            commonName: "system:node:a",
            organizations: ["system:nodes"],
          }),
        ).toString("base64"),
      },
    });
    await clock.advanceAsync(1000);
  });
  const message = () => messages[0];

  test("waits for a permission that comes later", async () => {
    expect(message()).toBeUndefined();
    granted.add("selfnodeclient");
    await clock.advanceAsync(10_000);
    expect(message()).toBe(
      "Auto approving self kubelet client certificate after SubjectAccessReview.",
    );
  });

  test("takes the permission for a first certificate for a renewal, too", async () => {
    granted.add("nodeclient");
    await clock.advanceAsync(10_000);
    expect(message()).toBe(
      "Auto approving kubelet client certificate after SubjectAccessReview.",
    );
  });
});

test("decided requests go an hour later, undecided ones a day later, and none that waits for its signer", async () => {
  await start("certificatesigningrequest-cleaner-controller");
  const lastUpdateTime = formatTime(clock.now());
  const certificateFor = (validityMs: number): string =>
    Buffer.from(
      createCertificateAuthority({
        subject: { commonName: "x" },
        nowMs: clock.now(),
        validityMs,
      }).certificate,
    ).toString("base64");
  const make = async (
    name: string,
    type?: string,
    certificate?: string,
  ): Promise<void> => {
    await requests().create({
      metadata: { name },
      spec: { request: "", signerName: "example.com/x", usages: [] },
      status: {
        ...(type
          ? { conditions: [{ type, status: "True", lastUpdateTime }] }
          : {}),
        ...(certificate ? { certificate } : {}),
      },
    });
  };
  await make("pending");
  await make("approved", "Approved");
  await make("denied", "Denied");
  await make("failed", "Failed");
  await make("issued", "Approved", certificateFor(7_200_000));
  await make("short", "Approved", certificateFor(600_000));
  const left = () => all().map(({ metadata }) => metadata.name);
  await clock.advanceAsync(599_000);
  expect(left()).toHaveLength(6);
  await clock.advanceAsync(3000);
  expect(left()).not.toContain("short");
  await clock.advanceAsync(3_000_000);
  expect(left()).toEqual(["pending", "approved"]);
  await clock.advanceAsync(25 * 3_600_000);
  expect(left()).toEqual(["approved"]);
});

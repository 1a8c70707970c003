// Requests for certificates: those that may be approved only later, and when each is removed.
import { formatTime } from "../../../api/clock.ts";
import { createCertificateAuthority } from "../../../api/pki/certificate.ts";
import { inspectCertificate } from "../../../api/pki/inspect.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import type { CertificateSigningRequest } from "../../../api/types/certificates-v1.ts";
import { certificateSigningRequests } from "../../../client/resources.ts";
import type { ControllerOptions } from "../../../controllers/options.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
const start = async (
  controller: string,
  options: Partial<ControllerOptions> = {},
): Promise<void> => {
  clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: [controller], ...options },
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

describe("signing", () => {
  const dayMs = 86_400_000;
  const ask = async (
    name: string,
    expirationSeconds: number,
  ): Promise<void> => {
    await requests().create({
      metadata: { name },
      spec: {
        signerName: "kubernetes.io/kube-apiserver-client",
        usages: ["client auth"],
        expirationSeconds,
        request: Buffer.from(
          createCsr(createPrivateKeyPem(), { commonName: name }),
        ).toString("base64"),
      },
      status: { conditions: [{ type: "Approved", status: "True" }] },
    });
    await clock.advanceAsync(1000);
  };
  const answer = (name: string) =>
    all().find(({ metadata }) => metadata.name === name)?.status;
  /** Seconds from now to the certificate's end. */
  const lastsFor = (name: string): number => {
    const pem = Buffer.from(answer(name)!.certificate!, "base64").toString();
    return Math.round(
      (inspectCertificate(pem).notAfterMs - clock.now()) / 1000,
    );
  };
  beforeEach(() =>
    start("certificatesigningrequest-signing-controller", {
      clusterSigningCa: createCertificateAuthority({
        subject: { commonName: "ca" },
        nowMs: Date.UTC(2025, 0, 1),
        validityMs: 2 * dayMs,
      }),
    }),
  );

  test("a long life counts from the backdated start", async () => {
    await ask("short", 3600);
    expect(lastsFor("short")).toBe(3599);
    await ask("long", 86_400);
    expect(lastsFor("long")).toBe(86_400 - 300 - 1);
  });

  test("nothing is signed by an authority that has expired", async () => {
    clock.advance(3 * dayMs);
    await ask("late", 3600);
    expect(answer("late")).toEqual({
      conditions: [{ type: "Approved", status: "True" }],
    });
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
  await make("noted", "example.com/Queued");
  await make("denied", "Denied");
  await make("failed", "Failed");
  await make("issued", "Approved", certificateFor(7_200_000));
  await make("short", "Approved", certificateFor(600_000));
  const left = () => all().map(({ metadata }) => metadata.name);
  await clock.advanceAsync(599_000);
  expect(left()).toHaveLength(7);
  await clock.advanceAsync(3000);
  expect(left()).not.toContain("short");
  await clock.advanceAsync(3_000_000);
  expect(left()).toEqual(["pending", "approved", "noted"]);
  await clock.advanceAsync(25 * 3_600_000);
  expect(left()).toEqual(["approved", "noted"]);
});

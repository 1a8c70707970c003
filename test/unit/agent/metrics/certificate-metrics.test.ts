// How long certificates are still valid, how long they were used, and renewals that failed.
import { metricsText } from "../../../../api/metrics/family.ts";
import { createCertificateAuthority } from "../../../../api/pki/certificate.ts";
import { inspectCertificate } from "../../../../api/pki/inspect.ts";
import { CertificateMetrics } from "../../../../agent/metrics/certificate-metrics.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

test("a certificate that is not there has no time; another takes the place of one", () => {
  const { certificate } = createCertificateAuthority({
    subject: { commonName: "n" },
    nowMs: Date.now(),
  });
  const clock = new FakeClock();
  const metrics = new CertificateMetrics(clock);
  const shown = (): string => metricsText(metrics.families());
  expect(shown()).not.toContain("ttl_seconds");
  metrics.uses("client", certificate);
  metrics.uses("server", certificate);
  metrics.uses("server", certificate);
  metrics.failed("client");
  const left =
    (inspectCertificate(certificate).notAfterMs - clock.now()) / 1000;
  for (const line of [
    `kubelet_certificate_manager_client_ttl_seconds ${left}`,
    `kubelet_certificate_manager_server_ttl_seconds ${left}`,
    "kubelet_certificate_manager_client_expiration_renew_errors 1",
    "kubelet_server_expiration_renew_errors 0",
    "kubelet_certificate_manager_server_rotation_seconds_count 1",
  ])
    expect(shown()).toContain(`${line}\n`);
});

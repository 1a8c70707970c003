// Mutating admission policies have no effect yet: where their gate and their version are on, none is taken.
import { builtinCatalogue } from "../../../api/catalogue.ts";
import { startTestServer } from "./support.ts";

const group = "/apis/admissionregistration.k8s.io/v1alpha1";

test.each([
  ["mutatingadmissionpolicies", "MutatingAdmissionPolicy"],
  ["mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"],
])("%s are refused by name", async (resource, kind) => {
  const server = await startTestServer({
    catalogue: builtinCatalogue(() => true),
    featureGates: { MutatingAdmissionPolicy: true },
  });
  try {
    const { status, body } = await server.call("POST", `${group}/${resource}`, {
      apiVersion: "admissionregistration.k8s.io/v1alpha1",
      kind,
      metadata: { name: "p" },
      spec: {},
    });
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain(
      "mutating admission policies are not implemented yet",
    );
  } finally {
    await server.stop();
  }
});

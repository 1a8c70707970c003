// The options of a request as admission plug-ins see them: those of the reference, for every verb that writes.
import type { AdmissionPlugin } from "../../../apiserver-lite/admission/plugin.ts";
import { configMap, configMaps, startTestServer } from "./support.ts";

test("create, update, patch, apply and delete", async () => {
  const seen: [string, object | undefined][] = [];
  const plugin: AdmissionPlugin = {
    name: "Observer",
    validate({ operation, resource, options }) {
      if (resource.resource === "configmaps") seen.push([operation, options]);
    },
  };
  const server = await startTestServer({
    parts: () => ({ admission: [plugin] }),
  });
  const apiVersion = "meta.k8s.io/v1";
  const at = `${configMaps}/a`;
  const patch = (type: string): Record<string, string> => ({
    "content-type": `application/${type}`,
  });
  try {
    await server.call("POST", configMaps, configMap("a"));
    await server.call(
      "POST",
      `${configMaps}?dryRun=All&fieldManager=me&fieldValidation=Strict`,
      configMap("b"),
    );
    await server.call("PUT", `${at}?fieldManager=me`, configMap("a"));
    await server.call(
      "PATCH",
      `${at}?fieldValidation=Ignore`,
      { data: { x: "1" } },
      patch("merge-patch+json"),
    );
    await server.call(
      "PATCH",
      `${configMaps}/c?fieldManager=applier&force=true`,
      configMap("c"),
      patch("apply-patch+yaml"),
    );
    await server.call("DELETE", `${at}?gracePeriodSeconds=0&dryRun=All`);
    await server.call("DELETE", at, {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: "Background",
    });
    expect(seen).toEqual([
      ["CREATE", { kind: "CreateOptions", apiVersion }],
      [
        "CREATE",
        {
          ...{ kind: "CreateOptions", apiVersion, dryRun: ["All"] },
          ...{ fieldManager: "me", fieldValidation: "Strict" },
        },
      ],
      ["UPDATE", { kind: "UpdateOptions", apiVersion, fieldManager: "me" }],
      [
        "UPDATE",
        { kind: "UpdateOptions", apiVersion, fieldValidation: "Ignore" },
      ],
      [
        "CREATE",
        { kind: "CreateOptions", apiVersion, fieldManager: "applier" },
      ],
      [
        "DELETE",
        {
          ...{ kind: "DeleteOptions", apiVersion, dryRun: ["All"] },
          gracePeriodSeconds: 0,
        },
      ],
      [
        "DELETE",
        {
          ...{ kind: "DeleteOptions", apiVersion },
          propagationPolicy: "Background",
        },
      ],
    ]);
  } finally {
    await server.stop();
  }
});

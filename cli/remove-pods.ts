// `orbit remove-pods`: ends and removes all pods (or those of one agent) of a container runtime, with their network; for uninstall.sh. The server
// must not run. Images and the runtime itself stay.
import { group, option } from "./options/build-table.ts";
import { parseOptions } from "./options/parse.ts";
import { DependencyError } from "./options/table.ts";

const table = [
  group(
    "Options",
    option(
      "container-runtime-endpoint",
      "string",
      "",
      "Socket of the runtime.",
    ),
    option(
      "root-dir",
      "string",
      "",
      "Only pods of the agent with this root directory.",
    ),
  ),
];
const graceSeconds = 2;

export async function runRemovePods(argv: readonly string[]): Promise<number> {
  const values = parseOptions(table, argv);
  const { defaultEndpoint, socketAnswers } = await import("./parts/runtime.ts");
  const endpoint =
    values.optionalText("container-runtime-endpoint") ?? defaultEndpoint;
  if (!(await socketAnswers(endpoint)))
    throw new DependencyError(`no container runtime answers at ${endpoint}`);
  const [{ createContainerdRuntime }, { createLogger }] = await Promise.all([
    import("../cri/containerd/containerd-runtime.ts"),
    import("./logging.ts"),
  ]);
  const logger = createLogger({ format: "text", verbosity: -1 });
  const runtime = createContainerdRuntime({
    endpoint,
    logger,
    ensureSandboxImage: false,
  });
  await runtime.start();
  try {
    // Only what a node agent made: it labels every sandbox with the pod's uid, ours with their agent too.
    const rootDirectory = values.optionalText("root-dir");
    const sandboxes = (await runtime.listPodSandboxes()).filter(
      ({ labels, annotations }) =>
        labels["io.kubernetes.pod.uid"] &&
        (!rootDirectory || annotations["orbit.io/agent"] === rootDirectory),
    );
    let failed = 0;
    for (const { id, metadata } of sandboxes) {
      try {
        const containers = await runtime.listContainers({ sandboxId: id });
        await Promise.all(
          containers.map(({ id: container }) =>
            runtime.stopContainer(container, graceSeconds),
          ),
        );
        await runtime.stopPodSandbox(id);
        await runtime.removePodSandbox(id);
        process.stdout.write(
          `removed ${metadata.namespace}/${metadata.name}\n`,
        );
      } catch (err) {
        failed++;
        logger.error(
          { err },
          `pod ${metadata.namespace}/${metadata.name} could not be removed`,
        );
      }
    }
    return failed === 0 ? 0 : 2;
  } finally {
    await runtime.stop();
  }
}

// An operator as people write them on the framework @dot-i/k8s-operator, in a process of its own: it brings its definition
// (argv[2]), keeps a ConfigMap for each Memo, reports the status, and removes the ConfigMap behind a finalizer. KUBECONFIG
// says where. It prints "watching" when it has begun.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { default: Operator } = require("@dot-i/k8s-operator");

const finalizer = "memos.desk.example.com/config-map";

class MemoOperator extends Operator {
  async init() {
    const { group, versions, plural } =
      await this.registerCustomResourceDefinition(process.argv[2]);
    await this.watchResource(group, versions[0].name, plural, async (event) => {
      try {
        await this.#handle(event);
      } catch (error) {
        console.error(error.response?.body ?? error);
      }
    });
  }

  async #handle(event) {
    if (event.type === "DELETED") return;
    const done = await this.handleResourceFinalizer(event, finalizer, () =>
      this.#forget(event.meta),
    );
    if (!done) await this.#keep(event);
  }

  async #keep({ meta, object }) {
    const { name, namespace } = meta;
    const { generation } = object.metadata;
    if (object.status?.observedGeneration === generation) return;
    const body = { metadata: { name }, data: { text: object.spec.text } };
    await this.k8sApi
      .replaceNamespacedConfigMap(name, namespace, body)
      .catch((error) => {
        if (error.response?.statusCode !== 404) throw error;
        return this.k8sApi.createNamespacedConfigMap(namespace, body);
      });
    await this.patchResourceStatus(meta, { observedGeneration: generation });
  }

  async #forget({ name, namespace }) {
    await this.k8sApi.deleteNamespacedConfigMap(name, namespace);
  }
}

const operator = new MemoOperator();
process.once("SIGTERM", () => {
  operator.stop();
  process.exit(0);
});
await operator.start();
console.log("watching");

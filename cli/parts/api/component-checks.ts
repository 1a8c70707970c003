// What componentstatuses report: the store always; scheduler and controllers by asking their ports, or, where they run in
// this process, by the fact that they do.
import { request } from "node:https";
import type { ComponentCheck } from "../../../apiserver-lite/index.ts";
import type { Store } from "../../../storage/store.ts";

const ports = { scheduler: 10259, "controller-manager": 10257 };

export function componentChecks(
  store: Pick<Store, "healthy">,
  inProcess: boolean,
): ComponentCheck[] {
  const parts = Object.entries(ports).map(([name, port]) => ({
    name,
    check: inProcess ? () => Promise.resolve("ok") : () => probe(port),
  }));
  return [
    ...parts,
    { name: "etcd-0", check: () => store.healthy().then(() => "ok") },
  ];
}

function probe(port: number): Promise<string> {
  const url = `https://127.0.0.1:${port}/healthz`;
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      { rejectUnauthorized: false, agent: false, timeout: 3000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => {
          if (text.length < 1024) text += chunk;
        });
        answer.on("end", () => {
          if (answer.statusCode === 200) resolve(text || "ok");
          else reject(new Error(text || `status ${answer.statusCode}`));
        });
      },
    );
    asked.on("timeout", () => asked.destroy(new Error("i/o timeout")));
    asked.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          error.code === "ECONNREFUSED"
            ? `Get "${url}": dial tcp 127.0.0.1:${port}: connect: connection refused`
            : `Get "${url}": ${error.message}`,
        ),
      ),
    );
    asked.end();
  });
}

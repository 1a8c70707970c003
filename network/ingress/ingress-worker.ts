// The thread of the ingress proxy: it serves while the API server works, and the other way round. Statistics are sent at
// most once a second, and only when something was served.
import { parentPort, workerData } from "node:worker_threads";
import { pino } from "pino";
import type { FromProxy, IngressServerData, ToProxy } from "./messages.ts";
import { Proxy } from "./proxy.ts";

const port = parentPort!;
const statisticsMs = 1000;

function send(message: FromProxy): void {
  port.postMessage(message);
}

const data = workerData as IngressServerData;
const proxy = new Proxy(
  data,
  send,
  pino(
    { level: data.logLevel, base: null },
    { write: (record: string) => send({ kind: "log", record }) },
  ),
);

const reports = setInterval(() => {
  const statistics = proxy.takeStatistics();
  if (statistics) send({ kind: "statistics", statistics });
}, statisticsMs);
reports.unref();

port.on("message", (message: ToProxy) => {
  proxy.take(message);
  if (message.kind === "stop")
    void proxy.stop().finally(() => {
      clearInterval(reports);
      port.close();
    });
});
send({ kind: "started" });

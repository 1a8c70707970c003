// `orbit server`: a whole cluster in one process (cluster/start-server.ts) as a daemon. Ready: the API serves and this node
// is Ready.
import { beginDaemon } from "./daemon.ts";
import { startServer, type RunningServer } from "./cluster/start-server.ts";
import { notifySystemd, startWatchdog, stopOnSignals } from "./lifecycle.ts";
import { serverOptions } from "./options/server.ts";

export async function runServer(
  argv: readonly string[],
): Promise<number | undefined> {
  const start = await beginDaemon(argv, {
    table: serverOptions,
    usage: "orbit server [options]",
    about: "A whole cluster on this machine.",
  });
  if (!start) return 0;
  const { values, logger } = start;
  // A signal while it starts ends what was started so far.
  let interrupted = false;
  const running: { current?: RunningServer } = {};
  stopOnSignals(
    {
      async stop() {
        interrupted = true;
        await running.current?.stop();
      },
    },
    logger,
  );
  running.current = await startServer(values, logger, start.failures);
  if (interrupted) return undefined;
  const server = running.current;
  startWatchdog(logger, {
    status: () => server.status(),
    fatal: () => server.fatal(),
  });
  start.ready();
  notifySystemd(`READY=1\nSTATUS=${server.status()}`, logger);
  return undefined;
}

// /debug/api_priority_and_fairness/dump_priority_levels, dump_queues and dump_requests: what priority and fairness holds
// now, as the reference's tables.
import type { Clock } from "../../api/clock.ts";
import type { PathHandler } from "../serving/path-handler.ts";
import { FlowClaim } from "../flow-control/flow-claim.ts";
import type { FlowControl } from "../flow-control/flow-control.ts";
import type { QueuedRequest } from "../flow-control/queue.ts";

type Row = readonly (string | number | boolean)[];

export function flowDumps(flows: FlowControl, clock: Clock): PathHandler[] {
  const page = (
    name: string,
    rows: (details: boolean) => Row[],
  ): PathHandler => ({
    path: `/debug/api_priority_and_fairness/${name}`,
    listed: () => [],
    handle: (request) =>
      request.respond(
        200,
        { "content-type": "text/plain; charset=utf-8" },
        tableText(rows(Boolean(request.query.get("includeRequestDetails")))),
      ),
  });
  return [
    page("dump_priority_levels", () => levelRows(flows)),
    page("dump_queues", () => queueRows(flows)),
    page("dump_requests", (details) => requestRows(flows, clock, details)),
  ];
}

function levelRows({ levels }: FlowControl): Row[] {
  const head = [
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
  ];
  return [
    head,
    ...levels.map(({ name, queueSet, quiescing }) => [
      name,
      queueSet.queues.filter(({ waiting }) => waiting.size > 0).length,
      queueSet.isIdle,
      quiescing,
      queueSet.waiting,
      queueSet.executing,
      queueSet.dispatched,
      queueSet.refused,
      // The reference counts those that waited too long among the cancelled.
      0,
      queueSet.cancelled,
    ]),
  ];
}

function queueRows({ levels }: FlowControl): Row[] {
  const head = [
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
  ];
  const sum = (
    requests: Iterable<QueuedRequest>,
    of: (request: QueuedRequest) => number,
  ): number => [...requests].reduce((total, one) => total + of(one), 0);
  return [
    head,
    ...levels.flatMap(({ name, queueSet }) =>
      queueSet.queues.map((queue, index) => [
        name,
        index,
        queue.waiting.size,
        queue.executing.size,
        queue.seatsInUse,
        seatSeconds(queue.nextR),
        sum(queue.waiting, ({ initialSeats }) => initialSeats),
        sum(queue.waiting, ({ seats }) => seats),
        seatSeconds(queue.waitingWork),
      ]),
    ),
  ];
}

function requestRows(
  { levels }: FlowControl,
  clock: Clock,
  details: boolean,
): Row[] {
  const head = [
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    // As the reference spells it.
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
    ...(details ? detailNames : []),
  ];
  const sinceEpochMs = clock.now() - clock.monotonic();
  const time = (ms: number): string => nanoTime(sinceEpochMs + ms);
  const rows: Row[] = [head];
  const show = (queue: number, place: number, request: QueuedRequest): void => {
    if (!(request instanceof FlowClaim)) return;
    const { flow, arrivedMs, initialSeats, finalSeats, lingerMs } = request;
    rows.push([
      flow.level.name,
      flow.schema,
      queue,
      place,
      flow.distinguisher,
      time(arrivedMs),
      initialSeats,
      finalSeats,
      lingerMs === 0 ? "0s" : `${lingerMs}ms`,
      place < 0 ? time(request.startedMs) : "0001-01-01T00:00:00Z",
      ...(details ? detailsOf(request) : []),
    ]);
  };
  for (const { queueSet } of levels) {
    for (const [index, { waiting, executing }] of queueSet.queues.entries()) {
      for (const [place, one] of [...waiting].entries())
        show(index, place, one);
      for (const one of executing) show(index, -1, one);
    }
    for (const one of queueSet.queueless) show(-1, -1, one);
  }
  return rows;
}

const detailNames = [
  "UserName",
  "Verb",
  "APIPath",
  "Namespace",
  "Name",
  "APIVersion",
  "Resource",
  "SubResource",
];

function detailsOf({ request: { user, info } }: FlowClaim): Row {
  const { verb, path, namespace, objectName, group, version } = info;
  return [
    user.name,
    verb,
    path,
    namespace,
    objectName,
    group ? `${group}/${version}` : version,
    info.resource,
    info.subresource,
  ];
}

const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`;

/** RFC 3339 with as many digits of the second as are not 0. */
function nanoTime(epochMs: number): string {
  const [time, digits] = new Date(epochMs)
    .toISOString()
    .slice(0, -1)
    .split(".");
  const shown = digits!.replace(/0{1,3}$/, "");
  return `${time}${shown === "" ? "" : `.${shown}`}Z`;
}

/** Cells end with a comma; columns are at least eight wide with one space between, the last as wide as it is. */
function tableText(rows: readonly Row[]): string {
  const cells = rows.map((row) =>
    row.map((value, at) =>
      at === row.length - 1 ? plain(value) : `${plain(value)},`,
    ),
  );
  const widths = (cells[0] ?? []).map((_, at) =>
    Math.max(8, ...cells.map((row) => row[at]!.length + 1)),
  );
  return cells
    .map((row) => {
      const padded = row.map((text, at) =>
        at === row.length - 1 ? text : text.padEnd(widths[at]!),
      );
      return `${padded.join("")}\n`;
    })
    .join("");
}

/** Names are the clients': a row stays one line. */
const plain = (value: string | number | boolean): string =>
  String(value).replace(/[\t\n\v\f\r]/g, " ");

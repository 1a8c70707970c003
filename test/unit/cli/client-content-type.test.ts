// --kube-api-content-type: what each part that runs alone is given, and what is refused before it starts.
import { agentOptions } from "../../../cli/options/agent.ts";
import { controllerManagerOptions } from "../../../cli/options/controller-manager.ts";
import { parseOptions } from "../../../cli/options/parse.ts";
import { proxyOptions } from "../../../cli/options/proxy.ts";
import { schedulerOptions } from "../../../cli/options/scheduler.ts";
import type { OptionTable } from "../../../cli/options/table.ts";
import { clientContentType } from "../../../cli/parts/client-content-type.ts";

const protobuf = "application/vnd.kubernetes.protobuf";
const tables: [string, OptionTable][] = [
  ["agent", agentOptions],
  ["controller-manager", controllerManagerOptions],
  ["scheduler", schedulerOptions],
  ["proxy", proxyOptions],
];
const chosen = (table: OptionTable, gates = {}, ...argv: string[]): string =>
  clientContentType(parseOptions(table, argv), gates);

test.each(tables)("%s", (_name, table) => {
  expect(chosen(table)).toBe(protobuf);
  for (const [text, want] of [
    ["", protobuf],
    ["application/json", "application/json"],
    [protobuf, protobuf],
    ["application/vnd.orbit.protobuf", protobuf],
  ])
    expect(chosen(table, {}, `--kube-api-content-type=${text}`)).toBe(want);
  const cbor = "--orbit-api-content-type=application/cbor";
  expect(() => chosen(table, {}, cbor)).toThrow(
    "--kube-api-content-type: application/cbor needs the feature gate ClientsAllowCBOR",
  );
  expect(chosen(table, { ClientsAllowCBOR: true }, cbor)).toBe(
    "application/cbor",
  );
  for (const text of ["application/yaml", "json", "application/json,text/html"])
    expect(() =>
      parseOptions(table, [`--kube-api-content-type=${text}`]),
    ).toThrow("kube-api-content-type");
});

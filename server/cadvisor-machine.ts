// What /metrics/cadvisor says of the machine and of itself.
import type { MachineFigures } from "../api/contracts.ts";
import type { Families } from "./metric-families.ts";

/** Persistent memory is not looked for: cAdvisor says 0 where it does not find any, or was built without it. */
export function addMachine(families: Families, machine: MachineFigures): void {
  const labels = {
    boot_id: machine.bootId,
    machine_id: machine.machineId,
    system_uuid: machine.systemUuid,
  };
  const add = (name: string, help: string, value: number, more = {}): void =>
    families.add(
      { name: `machine_${name}`, type: "gauge", help },
      { ...labels, ...more },
      value,
    );
  add("cpu_cores", "Logical processors.", machine.cores);
  add("cpu_physical_cores", "Physical cores.", machine.physicalCores);
  add("cpu_sockets", "Sockets.", machine.sockets);
  add("memory_bytes", "Memory installed.", machine.memoryBytes);
  add("swap_bytes", "Swap there is.", machine.swapBytes);
  for (const mode of ["memory_mode", "app_direct_mode"])
    add("nvm_capacity", "Persistent memory by its mode.", 0, { mode });
  add("nvm_avg_power_budget_watts", "Power of persistent memory.", 0);
}

/** There is no program beside the agent whose version could be said; a scrape that fails has no answer at all. */
export function addScrape(
  families: Families,
  { kernelVersion, osVersion }: MachineFigures,
): void {
  const gaugeOf = (name: string, help: string) =>
    ({ name, type: "gauge", help }) as const;
  families.add(
    gaugeOf("cadvisor_version_info", "Always 1; the machine's versions."),
    {
      cadvisorRevision: "",
      cadvisorVersion: "",
      dockerVersion: "",
      kernelVersion,
      osVersion,
    },
    1,
  );
  families.add(
    gaugeOf("container_scrape_error", "1 if a figure could not be read."),
    {},
    0,
  );
}

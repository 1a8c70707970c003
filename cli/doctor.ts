// `orbit doctor`: not joined yet.
import { helpText, wantsHelp } from "./options/help.ts";
import { UsageError } from "./options/table.ts";

export function runDoctor(
  argv: readonly string[],
): Promise<number | undefined> {
  if (wantsHelp(argv, [])) {
    process.stdout.write(
      helpText(
        "orbit doctor",
        "Look for what would keep a cluster from running well on this machine. Not there yet.",
        [],
      ),
    );
    return Promise.resolve(0);
  }
  return Promise.reject(new UsageError("this part is not there yet"));
}

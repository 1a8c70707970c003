// A line of Docker's own log of a container, a JSON object: {"log":"text\n","stream":"stdout","time":"2026-…Z"}. A text without
// its newline is a piece of a longer line, or the end of the output.

export interface DockerEntry {
  log: string;
  stream: "stdout" | "stderr";
  time: string;
}

/** undefined for what is none. */
export function parseDockerEntry(line: string): DockerEntry | undefined {
  try {
    const { log, stream, time } = JSON.parse(line) as Record<
      keyof DockerEntry,
      unknown
    >;
    if (typeof time !== "string" || !/^[0-9TZ:.+-]+$/.test(time))
      return undefined;
    return {
      log: typeof log === "string" ? log : "",
      stream: stream === "stderr" ? "stderr" : "stdout",
      time,
    };
  } catch {
    return undefined;
  }
}

// Bundles a TypeScript program for tests that run it as a process of its own.
import * as esbuild from "esbuild";

/** A CommonJS program for Node at `outfile`. */
export async function bundleProgram(
  entry: string,
  outfile: string,
): Promise<void> {
  await esbuild.build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    outfile,
    logLevel: "error",
  });
  // Its service is a process of its own.
  await esbuild.stop();
}

// Which ids of the host pods may have, by a passwd file and a program in place of getsubids.
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { subordinateIds } from "../../../../agent/resources/users/subordinate-ids.ts";
import {
  makeTempDirectory,
  removeTempDirectory,
} from "../../../support/temp-directory.ts";

let directory: string;
beforeEach(() => {
  directory = makeTempDirectory("orbit-subids-");
});
afterEach(() => removeTempDirectory(directory));

const withUser =
  "root:x:0:0::/root:/bin/sh\nkubelet:x:999:999::/:/usr/sbin/nologin\n";

/** @param script of `getsubids`; undefined: there is none */
async function ids(
  script: string | undefined,
  { passwd = withUser, maxPods = 110 } = {},
): Promise<unknown> {
  const passwdFile = join(directory, "passwd");
  const program = join(directory, "getsubids");
  await writeFile(passwdFile, passwd);
  if (script !== undefined) {
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
  }
  return await subordinateIds(maxPods, { passwdFile, program });
}

const byDefault = { first: 65_536, length: 2 ** 32 - 65_536 };

test("a machine without the user: all but the host's own", async () => {
  const passwd = "root:x:0:0::/root:/bin/sh\nkubelets:x:998:998::/:/bin/sh\n";
  expect(await ids("exit 1", { passwd })).toEqual(byDefault);
});

test("a machine without the program: the same", async () => {
  expect(await ids(undefined)).toEqual(byDefault);
});

test("those of the user, in the last column their number", async () => {
  const found = await ids('echo "0: kubelet 131072 7208960"');
  expect(found).toEqual({ first: 131_072, length: 7_208_960 });
});

test.each<[string, string, string]>([
  [
    "the program fails",
    "echo no >&2; exit 1",
    "error retrieving additional uids",
  ],
  [
    "groups fail",
    'if [ "$1" = -g ]; then exit 1; fi; echo "0: kubelet 65536 7208960"',
    "error retrieving additional gids",
  ],
  [
    "groups differ",
    'if [ "$1" = -g ]; then echo "0: kubelet 131072 7208960"; else echo "0: kubelet 65536 7208960"; fi',
    'mismatched subuids and subgids for user "kubelet"',
  ],
  [
    "two ranges",
    'echo "0: kubelet 65536 7208960"; echo "1: kubelet 8000000 65536"',
    "it must contain only one line",
  ],
  ["no line", "true", 'invalid line ""'],
  ["a word more", 'echo "0: kubelet 65536 7208960 x"', "invalid line"],
  ["no number", 'echo "0: kubelet 0x10000 7208960"', "error parsing line"],
  ["a negative one", 'echo "0: kubelet 65536 -65536"', "error parsing line"],
  [
    "too large a number",
    'echo "0: kubelet 4294967296 65536"',
    "error parsing line",
  ],
  [
    "the host's own",
    'echo "0: kubelet 0 7208960"',
    "kubelet user assigned ID 0 must be greater or equal to 65536",
  ],
  [
    "an odd beginning",
    'echo "0: kubelet 100000 7208960"',
    "kubelet user assigned ID 100000 is not a multiple of 65536",
  ],
  [
    "an odd length",
    'echo "0: kubelet 65536 7208961"',
    "kubelet user assigned IDs length 7208961 is not a multiple of 65536",
  ],
  [
    "beyond the last id",
    'echo "0: kubelet 4294901760 7208960"',
    "are more than there are",
  ],
  [
    "too few",
    'echo "0: kubelet 65536 7143424"',
    "kubelet user assigned IDs are not enough to support 110 pods",
  ],
])("refused: %s", async (_, script, message) => {
  await expect(ids(script)).rejects.toThrow(message);
});

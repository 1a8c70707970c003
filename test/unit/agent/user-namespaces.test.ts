// Pods that ask for a user namespace of their own: refused by name before the runtime is asked for a sandbox, with the
// reference's texts, by what the runtime reports of the handler of the pod's RuntimeClass.
import { Turns } from "../../../agent/pacing/turns.ts";
import { startSandbox } from "../../../agent/pods/start/sandbox-start.ts";
import type { SandboxConfig } from "../../../cri/runtime.ts";
import type { RuntimeHandler } from "../../../cri/runtime-features.ts";
import { testPod } from "./runtime-objects.ts";

const handler = (name: string, userNamespaces: boolean): RuntimeHandler => ({
  name,
  userNamespaces,
  recursiveReadOnlyMounts: false,
});

/** The text of the event of a sandbox that was not made; undefined: the runtime was asked for it. */
async function refusal(
  hostUsers: boolean | undefined,
  handlers: RuntimeHandler[],
  { name = "", isGateOn = true } = {},
): Promise<string | undefined> {
  const events: string[] = [];
  let asked = false;
  const started = startSandbox(
    {
      runtime: {
        runPodSandbox: () => {
          asked = true;
          return Promise.reject(new Error("asked"));
        },
      },
      runtimePods: { addSandbox: () => Promise.reject(new Error("unused")) },
      runtimeHandler: () => Promise.resolve(name),
      features: () => ({ handlers, supplementalGroupsPolicy: false }),
      userNamespaces: isGateOn,
      turns: new Turns(1),
      events: {
        pod: (_pod, type, reason, message) =>
          events.push(`${type} ${reason} ${message}`),
      },
    },
    testPod(hostUsers === undefined ? {} : { hostUsers }),
    {} as SandboxConfig,
  );
  await expect(started).rejects.toThrow();
  return asked
    ? undefined
    : events.join().replace(/^.*FailedCreatePodSandBox.*sandbox: /, "");
}

const unable =
  "can't set `spec.hostUsers: false`, runtime does not support user namespaces";

test.each<[string, RuntimeHandler[], string, string]>([
  ["a runtime that reports nothing", [], "", unable],
  ["the default handler is not able", [handler("", false)], "", unable],
  [
    "another handler is able",
    [handler("", false), handler("other", true)],
    "",
    unable,
  ],
  [
    "the handler of the class is not able",
    [handler("", true), handler("sandboxed", false)],
    "sandboxed",
    'can\'t set `spec.hostUsers: false`, RuntimeClass handler "sandboxed" does not support user namespaces',
  ],
  [
    "a handler that the runtime does not list",
    [handler("", true)],
    "absent",
    'can\'t set `spec.hostUsers: false`, RuntimeClass handler "absent" does not support user namespaces: the handler "absent" is not known',
  ],
  [
    "the runtime is able, this agent is not",
    [handler("", true)],
    "",
    "can't set `spec.hostUsers: false`, user namespaces are not supported by this agent",
  ],
])("hostUsers false, %s: refused", async (_, handlers, name, text) => {
  expect(await refusal(false, handlers, { name })).toBe(text);
});

test.each([true, false])(
  "hostUsers %j of a static pod without the gate: refused",
  async (hostUsers) => {
    expect(
      await refusal(hostUsers, [handler("", true)], { isGateOn: false }),
    ).toBe(
      'the feature gate "UserNamespacesSupport" is disabled: can\'t set spec.HostUsers',
    );
  },
);

test("pods of the node's user namespace are started, with the gate and without", async () => {
  expect(await refusal(true, [])).toBeUndefined();
  expect(await refusal(undefined, [])).toBeUndefined();
  expect(await refusal(undefined, [], { isGateOn: false })).toBeUndefined();
});

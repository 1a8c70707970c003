// Pods that ask for a user namespace of their own: refused by name before the runtime is asked for a sandbox, with the
// reference's texts, by what the runtime reports of the handler of the pod's RuntimeClass; and a sandbox that the runtime
// made without the namespace is no place for the pod.
import { Turns } from "../../../agent/pacing/turns.ts";
import {
  assertUsers,
  withPodUsers,
} from "../../../agent/pods/start/pod-users.ts";
import { startSandbox } from "../../../agent/pods/start/sandbox-start.ts";
import type { SandboxConfig } from "../../../cri/runtime.ts";
import type { UserMappings } from "../../../cri/user-mappings.ts";
import type { RuntimeHandler } from "../../../cri/runtime-features.ts";
import { sandboxOf, testPod } from "./runtime-objects.ts";

const handler = (name: string, userNamespaces: boolean): RuntimeHandler => ({
  name,
  userNamespaces,
  recursiveReadOnlyMounts: false,
});

const mapping = { hostId: 131_072, containerId: 0, length: 65_536 };
const users: UserMappings = { uids: [mapping], gids: [mapping] };

interface Case {
  /** Handler of the pod's RuntimeClass. */
  readonly name?: string;
  readonly isGateOn?: boolean;
  /** What the runtime reports of the sandbox it made. */
  readonly reported?: UserMappings;
}

/** A sandbox's start: its event, what the runtime was asked for, and whether the sandbox was stopped again. */
async function start(
  hostUsers: boolean | undefined,
  handlers: RuntimeHandler[],
  { name = "", isGateOn = true, reported }: Case = {},
): Promise<{
  event: string | undefined;
  asked: SandboxConfig | undefined;
  stopped: boolean;
}> {
  const events: string[] = [];
  let asked: SandboxConfig | undefined;
  let stopped = false;
  const pod = testPod(hostUsers === undefined ? {} : { hostUsers });
  const started = startSandbox(
    {
      runtime: {
        runPodSandbox(config) {
          asked = config;
          return Promise.resolve("s1");
        },
        stopPodSandbox() {
          stopped = true;
          return Promise.resolve();
        },
      },
      runtimePods: {
        addSandbox: () =>
          Promise.resolve(sandboxOf(pod, reported ? { users: reported } : {})),
      },
      runtimeHandler: () => Promise.resolve(name),
      users: {
        features: () => ({ handlers, supplementalGroupsPolicy: false }),
        userNamespaces: isGateOn
          ? { of: () => Promise.resolve(users) }
          : undefined,
      },
      turns: new Turns(1),
      moves: { during: (call) => call() },
      events: {
        pod: (_pod, type, reason, message) =>
          events.push(`${type} ${reason} ${message}`),
      },
    },
    pod,
    { security: {} } as SandboxConfig,
  );
  await started.catch(() => undefined);
  const event = events
    .join()
    .replace(/^.*FailedCreatePodSandBox.*sandbox: /, "");
  return { event: event || undefined, asked, stopped };
}

/** The text of the event of a sandbox for which the runtime was not asked; undefined: it was. */
async function refusal(
  hostUsers: boolean | undefined,
  handlers: RuntimeHandler[],
  options: Case = {},
): Promise<string | undefined> {
  const { event, asked } = await start(hostUsers, handlers, options);
  return asked ? undefined : event;
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

test("the sandbox is made with the pod's ids", async () => {
  const handlers = [handler("", true)];
  const { asked, event, stopped } = await start(false, handlers, {
    reported: users,
  });
  expect(asked?.security.users).toEqual(users);
  expect({ event, stopped }).toEqual({ event: undefined, stopped: false });
});

test.each<[string, UserMappings | undefined]>([
  ["none, as it knows no user namespaces", undefined],
  ["other ids", { uids: [{ ...mapping, hostId: 196_608 }], gids: [mapping] }],
  ["fewer ids", { uids: [mapping], gids: [] }],
])(
  "a sandbox of which the runtime reports %s is stopped",
  async (_, reported) => {
    const { event, stopped } = await start(
      false,
      [handler("", true)],
      reported ? { reported } : {},
    );
    expect({ event, stopped }).toEqual({
      event:
        "the runtime does not report the pod's user namespace of its sandbox",
      stopped: true,
    });
  },
);

test("containers of a pod are made in a sandbox with its ids alone", async () => {
  const pod = testPod({ hostUsers: false });
  const config = await withPodUsers(
    {
      features: () => ({
        handlers: [handler("", true)],
        supplementalGroupsPolicy: false,
      }),
      userNamespaces: { of: () => Promise.resolve(users) },
    },
    pod,
    "",
    { security: {} } as SandboxConfig,
  );
  expect(() => assertUsers(sandboxOf(pod, { users }), config)).not.toThrow();
  expect(() => assertUsers(sandboxOf(pod), config)).toThrow(
    "does not report the pod's user namespace",
  );
});

test("the agent's gate was switched off while the pod runs: its containers are not made without the namespace", async () => {
  await expect(
    withPodUsers(
      {
        features: () => ({
          handlers: [handler("", true)],
          supplementalGroupsPolicy: false,
        }),
      },
      testPod({ hostUsers: false }),
      "",
      { security: {} } as SandboxConfig,
    ),
  ).rejects.toThrow('the feature gate "UserNamespacesSupport" is disabled');
});

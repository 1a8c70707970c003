// TypeScript sources are imported with their .ts extension and turned into CommonJS by swc;
// packages that ship only ES modules are turned with them (some are those of @kubernetes/client-node).
const esmOnly = [
  "jose",
  "chokidar",
  "readdirp",
  "node-cron",
  "lru-cache",
  "js-yaml",
  "rfc6902",
  "@kubernetes",
  "openid-client",
  "oauth4webapi",
  "jsonpath-plus",
  "socks-proxy-agent",
  "agent-base",
];

const shared = {
  rootDir: import.meta.dirname,
  globalSetup: "<rootDir>/test/support/run/global-setup.ts",
  globalTeardown: "<rootDir>/test/support/run/global-teardown.ts",
  runner: "<rootDir>/test/support/lanes-runner.cjs",
  testEnvironment: "node",
  transform: {
    "^.+\\.(ts|js|mjs)$": [
      "@swc/jest",
      {
        jsc: { target: "es2022", parser: { syntax: "typescript" } },
        module: { type: "commonjs" },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join("|")})/)`],
  // @kubernetes/client-node brings an undici that wants a newer Node; what it uses of it is in the one installed here.
  moduleNameMapper: { "^undici$": "<rootDir>/node_modules/undici" },
  moduleFileExtensions: ["ts", "js", "mjs", "cjs", "json", "node"],
};

/** What needs no container and no rule of the machine. */
const servers =
  "aggregation,api,apiserver,clients,conformance,controllers,library,reference,storage";
const machines = "agent,cli,cluster,cri,network,security,server";

/** How pods behave, the same on each runtime: the project "machine" runs them on containerd, "docker" on Docker. */
const podFiles = [
  "e2e/volumes",
  "integration/agent/{api-pods,device-plugins,mounts,pod-features,static-pods}",
];
/** They take eight minutes more: only ORBIT_TEST_DOCKER=all runs them on Docker as well. Files that go through both by themselves are not here. */
const morePodFiles = [
  "e2e/{agent-alone,conformance-pods,namespace-mounts,network-policy,node-shutdown,pod-network,stop-pods}",
  "integration/agent/{cpu-manager,eviction,full-file-system,hardening,hostile-containers,many-pods,reboot}",
  "integration/agent/{resource-claims,runtime-away,runtime-faults,runtime-hangs,sandbox-ends}",
];
const dockerFiles =
  process.env["ORBIT_TEST_DOCKER"] === "all"
    ? [...podFiles, ...morePodFiles]
    : podFiles;

export default {
  // No test measures by it: it ends what hangs, later than any deadline of `eventually`, also on a busy machine.
  testTimeout: 150_000,
  maxWorkers: 2,
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["<rootDir>/test/unit/**/*.test.ts"],
    },
    {
      ...shared,
      displayName: "servers",
      testMatch: [`<rootDir>/test/integration/{${servers}}/**/*.test.ts`],
    },
    {
      ...shared,
      displayName: "machine",
      testMatch: [
        `<rootDir>/test/integration/{${machines}}/**/*.test.ts`,
        "<rootDir>/test/{e2e,robustness}/**/*.test.ts",
      ],
    },
    {
      ...shared,
      displayName: "docker",
      setupFiles: ["<rootDir>/test/support/run/on-docker.ts"],
      testMatch: dockerFiles.map((name) => `<rootDir>/test/${name}.test.ts`),
    },
  ],
};

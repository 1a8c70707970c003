// TypeScript sources are imported with their .ts extension and turned into CommonJS by swc;
// packages that ship only ES modules are turned with them.
const esmOnly = ["jose", "chokidar", "readdirp", "node-cron", "lru-cache", "js-yaml", "rfc6902", "@kubernetes", "openid-client", "oauth4webapi", "jsonpath-plus"];

export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: {
    "^.+\\.(ts|js|mjs)$": [
      "@swc/jest",
      { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join("|")})/)`],
  extensionsToTreatAsEsm: [],
  moduleFileExtensions: ["ts", "js", "mjs", "cjs", "json", "node"],
  testTimeout: 30_000,
};

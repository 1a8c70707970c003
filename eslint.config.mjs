import tseslint from "typescript-eslint";

/** Rooms a room may not look into: imports go down the list of docs/ARCHITECTURE.md, never up or sideways. */
const floors = [
  ["cli"],
  ["server", "agent", "network", "scheduler", "controllers", "apiserver-lite"],
  ["eviction", "cri", "client", "storage", "http-kit"],
  ["api", "grpc"],
];
/** Only these rooms may look into `storage`. */
const storageReaders = ["cli", "apiserver-lite", "storage"];

const importRules = floors.flatMap((rooms, floor) =>
  rooms.map((room) => {
    const above = floors.slice(0, floor).flat();
    const beside = rooms.filter((other) => other !== room);
    const hidden = [...above, ...beside, "test"].concat(
      storageReaders.includes(room) ? [] : ["storage"],
    );
    const group = [...new Set(hidden)].flatMap((other) => [
      `../${other}/**`,
      `../../${other}/**`,
      `../../../${other}/**`,
    ]);
    return {
      files: [`${room}/**/*.ts`],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                group,
                message: "imports go down the house, never up or sideways",
              },
            ],
          },
        ],
      },
    };
  }),
);

export default tseslint.config(
  {
    ignores: [
      "dist/**",
      "node_modules/**",
      "coverage/**",
      "api/types/**",
      "**/*.mjs",
      "**/*.cjs",
    ],
  },
  ...tseslint.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": [
        "error",
        { checksVoidReturn: false },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unused-vars": [
        "error",
        {
          argsIgnorePattern: "^_",
          varsIgnorePattern: "^_",
          caughtErrors: "none",
        },
      ],
      "@typescript-eslint/explicit-module-boundary-types": "error",
    },
  },
  {
    files: ["test/**/*.ts"],
    rules: { "@typescript-eslint/explicit-module-boundary-types": "off" },
  },
  ...importRules,
);

// Who may import whom (ARCHITECTURE.md, "Layers"). Each rule says what to do instead.
const from = layer => `^src/${layer}/`;
const only = (layer, allowed) => ({
  name: `${layer}-imports`,
  severity: "error",
  comment: `src/${layer} may import only: ${[layer, ...allowed].join(", ")}. Move the code down, or pass the value in.`,
  from: { path: from(layer) },
  to: { path: "^src/", pathNot: `^src/(${[layer, ...allowed].join("|")})/` },
});

export default {
  forbidden: [
    only("api", []),
    only("snapshot", ["api"]),
    only("decide", ["api", "snapshot"]),
    only("control", ["api", "snapshot", "decide"]),
    only("kube", ["api", "snapshot", "decide", "control"]),
    only("provider", ["api", "snapshot", "decide", "control"]),
    only("sim", ["api", "snapshot", "decide", "control"]),
    only("view", ["api", "snapshot", "decide"]),
    only("web", ["api", "snapshot", "decide", "view"]),
    {
      name: "pure-core",
      severity: "error",
      comment: "api, snapshot, decide and view are pure: no Node modules. I/O belongs to the shell.",
      from: { path: "^src/(api|snapshot|decide|view)/", pathNot: "\\.test\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "A cycle means that two files are one concept, or that a third is missing.",
      from: { path: "^(src|test)/" },
      to: { circular: true },
    },
    {
      name: "no-tests-in-product",
      severity: "error",
      comment: "Product code does not import tests.",
      from: { path: "^src/", pathNot: "\\.test\\.ts$" },
      to: { path: "(\\.test\\.ts$|^test/)" },
    },
  ],
  options: {
    parser: "swc",
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".mjs", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "node"],
    },
  },
};

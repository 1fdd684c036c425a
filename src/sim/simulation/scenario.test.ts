import { describe, expect, test } from "vitest";
import { checkScenario, durationMs } from "./scenario.ts";

const least = { title: "t", until: "1h" };
const entry = (act: unknown, more: object = {}) => ({ ...least, timeline: [{ at: "1m", do: act, ...more }] });

function findings(value: unknown): string[] {
  const checked = checkScenario(value);
  return checked.ok ? [] : checked.findings.map(({ path, message }) => `${path}: ${message}`);
}

describe("a scenario", () => {
  test("needs no more than a title and an end", () => {
    expect(findings(least)).toEqual([]);
  });

  test("may hold manifests of any kind with any fields", () => {
    const manifest = { apiVersion: "v1", kind: "Node", metadata: { name: "a" }, spec: { anything: [1] } };
    expect(findings({ ...least, cluster: { manifests: [manifest] }, workloads: [manifest] })).toEqual([]);
  });

  test.each([
    ["no end", { title: "t" }, /^until: Required value/],
    ["a field that does not exist", { ...least, cluser: {} }, /^cluser: there is no such field/],
    [
      "a manifest without a kind",
      { ...least, workloads: [{ apiVersion: "v1", metadata: {} }] },
      /^workloads\[0\].kind/,
    ],
    ["a time that is none", { ...least, until: "soon" }, /^until: Invalid value: "soon"/],
    ["an act that is none", entry({ explode: {} }), /^timeline\[0\].do.explode: there is no such field/],
    ["two acts in one", entry({ cordon: { kind: "Node" }, crash: {} }), /^timeline\[0\].do: must have exactly one of/],
    ["no act", entry({}), /^timeline\[0\].do: must have exactly one of/],
    ["an unknown fault", entry({ api: { fault: "Tired", for: "1m" } }), /^timeline\[0\].do.api.fault: Unsupported/],
    ["a repetition without a pause", entry({ crash: {} }, { every: "0s" }), /^timeline\[0\].every: must be longer/],
    [
      "a selector that cannot be read",
      entry({ delete: { kind: "Node", selector: "a in (" } }),
      /^timeline\[0\].do.delete.selector: /,
    ],
    [
      "a name and a selector",
      entry({ delete: { kind: "Node", name: "a", selector: "b=c" } }),
      /^timeline\[0\].do.delete: must have either/,
    ],
    [
      "an act after the end",
      { ...least, timeline: [{ at: "61m", do: { crash: {} } }] },
      /^timeline\[0\].at: comes after/,
    ],
    [
      "an expectation that is never judged",
      { ...least, expect: [{ at: "1h" }, { at: "1h1s" }].map(when => ({ ...when, unharmed: { kind: "Node" } })) },
      /^expect\[1\].at: comes after the end \(until: 1h\)$/,
    ],
    [
      "labels of what is unharmed, which nobody looks at",
      { ...least, expect: [{ unharmed: { kind: "Node", selector: "a=b" } }] },
      /^expect\[0\].unharmed.selector: there is no such field/,
    ],
    ["nothing that is expected", { ...least, expect: [{ at: "1m" }] }, /^expect\[0\]: must have exactly one of/],
  ])("is refused with %s", (_, value, message) => {
    expect(findings(value)).toEqual([expect.stringMatching(message)]);
  });
});

test.each([
  ["name", { name: "Old" }],
  ["name", { name: ".old", count: 2 }],
  ["cpu", { name: "a", cpu: "lots" }],
  ["memory", { name: "a", memory: "16 Gi" }],
  ["zone", { name: "a", zone: "z 1" }],
  ["labels[a b]", { name: "a", labels: { "a b": "c" } }],
])("a node that no server would take is refused, not left out: %s of %j", (field, node) => {
  const told = findings({ ...least, cluster: { nodes: [node] } });
  expect(told).toEqual([expect.stringContaining(`cluster.nodes[0].${field}: `)]);
});

test("durations read as Go has them", () => {
  expect(durationMs("1h30m")).toBe(5_400_000);
  expect(durationMs("-30s")).toBe(-30_000);
  expect(() => durationMs("soon")).toThrow(/not a duration/);
});

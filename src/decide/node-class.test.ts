import { expect, test } from "vitest";
import { labelValueErrors } from "../api/name.ts";
import { nodeClassLabel } from "./node-class.ts";

const key = "fettle.dev/simulatednodeclass";
const labelOf = (name: string) => nodeClassLabel({ group: "fettle.dev", kind: "SimulatedNodeClass", name })[key] ?? "";

test.each(["default", "gpu.large", "a".repeat(63)])("a class is named on its claims: %s", name => {
  expect(labelOf(name)).toBe(name);
});

test.each(["a".repeat(64), `${"a".repeat(53)}.${"b".repeat(100)}`, "a".repeat(253), "Not a name!", "_a", "!"])(
  "a name that is no label's value is cut and stays a class's own: %s",
  name => {
    const label = labelOf(name);
    expect(labelValueErrors(label)).toEqual([]);
    expect(label).not.toBe("");
    expect(labelOf(`${name}x`)).not.toBe(label);
    expect(labelOf(name)).toBe(label);
  },
);

test("what is left of a long name can be read", () => {
  expect(labelOf(`gpu-${"x".repeat(80)}`)).toMatch(/^gpu-x{50}-[0-9a-f]{8}$/);
});

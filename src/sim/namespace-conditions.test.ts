import { expect, test } from "vitest";
import { type NamespaceCondition, namespaceConditions, type Remaining } from "./namespace-conditions.ts";

const nothing: Remaining = { countByResource: new Map(), countByFinalizer: new Map() };
const early = "2026-01-01T00:00:00Z";
const late = "2026-01-01T00:01:00Z";
const about = (conditions: readonly NamespaceCondition[], type: string) => conditions.find(one => one.type === type);

test("an empty namespace has nothing to complain of", () => {
  const conditions = namespaceConditions([], nothing, early);
  expect(conditions.map(({ status }) => status)).toEqual(["False", "False", "False", "False", "False"]);
  expect(about(conditions, "NamespaceContentRemaining")?.reason).toBe("ContentRemoved");
});

test("what is left is counted by resource and by finalizer, in order", () => {
  const remaining: Remaining = {
    countByResource: new Map([
      ["pods", 2],
      ["deployments.apps", 1],
    ]),
    countByFinalizer: new Map([
      ["b.dev/x", 1],
      ["a.dev/x", 3],
    ]),
  };
  const conditions = namespaceConditions([], remaining, early);
  expect(about(conditions, "NamespaceContentRemaining")).toEqual({
    type: "NamespaceContentRemaining",
    status: "True",
    reason: "SomeResourcesRemain",
    message: "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances",
    lastTransitionTime: early,
  });
  expect(about(conditions, "NamespaceFinalizersRemaining")?.message).toBe(
    "Some content in the namespace has finalizers remaining: a.dev/x in 3 resource instances, b.dev/x in 1 resource instances",
  );
});

test("only what changed gets a new time", () => {
  const held: Remaining = { countByResource: new Map([["pods", 1]]), countByFinalizer: new Map() };
  const first = namespaceConditions([], held, early);
  const second = namespaceConditions(first, nothing, late);
  const times = second.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]);
  expect(times.filter(([, at]) => at === late)).toEqual([["NamespaceContentRemaining", late]]);
});

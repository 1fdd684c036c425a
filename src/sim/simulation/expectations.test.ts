import { expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import type { Refusal } from "../../decide/decision.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { seededRandom } from "../random.ts";
import { disappointment } from "./expectations.ts";
import { ClusterObjects } from "./objects.ts";
import type { Expectation } from "./scenario.ts";

const node = (name: string, labels = {}) => ({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });
const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };
const refusal: Refusal = { subject: "claim/web-1", code: "frozen", message: "m", liftedBy: "l" };

function judged(expectation: Expectation): string | undefined {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  const objects = new ClusterObjects(clusterInTheBox({ clock, random: seededRandom(1) }));
  for (const name of ["a", "b", "c"]) objects.apply(node(name, { zone: name === "c" ? "y" : "x" }));
  objects.patch(node("a"), ready, "status");
  const lines = ["+00:00:01  claim/web-1  launch-instance  done: it has none", "+00:00:02  person  deletes Node/b"];
  const harmed = (kind: string) => (kind === "Node" ? [node("b") as unknown as KubeObject] : []);
  return disappointment(expectation, { objects, refusals: () => [refusal], lines: () => lines, harmed });
}

test.each<[string, Expectation]>([
  ["so many objects", { count: { kind: "Node", is: 3 } }],
  ["by their labels", { count: { kind: "Node", selector: "zone=x", is: 2 } }],
  ["by a condition", { count: { kind: "Node", where: { "status.conditions.Ready": "True" }, is: 1 } }],
  ["by what is absent", { count: { kind: "Node", where: { "metadata.deletionTimestamp": "" }, atLeast: 3 } }],
  ["at most", { count: { kind: "Node", atMost: 3 } }],
  ["at least one, where nothing is said", { refusal: { code: "frozen" } }],
  ["of a subject", { refusal: { code: "frozen", subject: "claim/web", is: 1 } }],
  ["none of another subject", { refusal: { code: "frozen", subject: "claim/api", is: 0 } }],
  ["a line, white space aside", { journal: { has: "claim/web-1 launch-instance done", is: 1 } }],
  ["nobody harmed of a name", { unharmed: { kind: "Node", name: "a" } }],
  ["nobody harmed of a kind", { unharmed: { kind: "Pod" } }],
])("holds: %s", (_, expectation) => {
  expect(judged(expectation)).toBeUndefined();
});

test.each<[Expectation, string]>([
  [{ count: { kind: "Node", is: 2 } }, "expected 2, found 3: Node (a, b, c)"],
  [{ count: { kind: "Node", selector: "zone=y", atLeast: 2 } }, "expected at least 2, found 1: Node zone=y (c)"],
  [{ count: { kind: "Node", atMost: 2 } }, "expected 0 to 2, found 3: Node (a, b, c)"],
  [{ refusal: { code: "stale" } }, "expected at least 1, found 0: refusals stale; there are: claim/web-1 frozen"],
  [{ journal: { has: "deletes", is: 0 } }, 'expected 0, found 1: lines with "deletes"'],
  [{ unharmed: { kind: "Node" } }, "no Node should have been deleted, but b was"],
])("says what is missing: %j", (expectation, message) => {
  expect(judged(expectation)).toBe(message);
});

test("a kind that nobody serves is a mistake of the scenario", () => {
  expect(() => judged({ count: { kind: "Nodes", is: 0 } })).toThrow("the cluster serves no kind Nodes");
});

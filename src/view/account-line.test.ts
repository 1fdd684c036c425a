import { expect, test } from "vitest";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { Command, JournalEntry, Outcome } from "../decide/decision.ts";
import { accountLine } from "./account-line.ts";

const at = Date.parse("2026-01-01T00:00:00Z");
const why = "Because.";
const node = { name: "web-1-abcd", uid: "n1" };
const pod = { namespace: "default", name: "shop-1", uid: "p1" };
const finalizer = "karpenter.sh/termination";
const done: Outcome = { result: "done" };
const spec = { node, action: "Deletion", message: "Claim web-1 was deleted." } as unknown as NodeActionSpec;
const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "web-1" } };
const progress = (phase: "Done" | "Abandoned") => ({ phase, outcome: "So it ended." });
const update = (phase: "Done" | "Abandoned"): Command => ({
  kind: "update-action",
  action: { name: "deletion-n1", uid: "a1" },
  resourceVersion: "1",
  progress: progress(phase),
  why,
});

const told = (command: Command, outcome: Outcome = done) => accountLine({ at, event: "ended", command, outcome });

test("what was given up at the last look is told", () => {
  const start: Command = { kind: "start-action", action: { name: "repair-n1", uid: "a1" }, why };
  expect(told(start, { result: "done", note: "given up: it is Ready now" })).toEqual({
    tone: "failed",
    object: "repair-n1",
    message: "not begun, given up: it is Ready now.",
  });
  expect(told(start)).toBeUndefined();
});

test.each<[Command, object]>([
  [
    { kind: "create-claim", manifest, why },
    { tone: "comes", object: "web-1", message: "asked for. Because." },
  ],
  [
    { kind: "update-node", node, change: { labels: { "karpenter.sh/initialized": "true" } }, why },
    { tone: "comes", object: "web-1-abcd", message: "in service." },
  ],
  [
    { kind: "open-action", name: "deletion-n1", spec, phase: "Pending", why },
    { tone: "goes", object: "web-1-abcd", message: "leaving (Deletion). Claim web-1 was deleted." },
  ],
  [
    { kind: "open-action", name: "deletion-n1", spec, phase: "DryRun", why },
    { tone: "goes", object: "web-1-abcd", message: "would leave (Deletion). Claim web-1 was deleted." },
  ],
  [
    { kind: "evict-pod", pod, why },
    { tone: "goes", object: "default/shop-1", message: "evicted. Because." },
  ],
  [
    { kind: "delete-pod", pod, deadline: at, why },
    { tone: "goes", object: "default/shop-1", message: "deleted by force. Because." },
  ],
  [
    { kind: "delete-claim", claim: { name: "web-1", uid: "u" }, resourceVersion: "1", why },
    { tone: "goes", object: "web-1", message: "given up. Because." },
  ],
  [
    { kind: "update-node", node, change: { removeFinalizers: [finalizer] }, why },
    { tone: "goes", object: "web-1-abcd", message: "gone." },
  ],
  [update("Abandoned"), { tone: "failed", object: "deletion-n1", message: "Abandoned. So it ended." }],
])("$kind is told", (command, line) => {
  expect(told(command)).toEqual(line);
});

test.each<[string, Command]>([
  ["a taint", { kind: "update-node", node, change: { addTaints: [{ key: "k", effect: "NoSchedule" }] }, why }],
  ["a launch, which the node's service shows", { kind: "launch-instance", claim: { name: "web-1", uid: "u" }, why }],
  ["an action that is done, whose node is gone", update("Done")],
])("not told: %s", (_, command) => {
  expect(told(command)).toBeUndefined();
});

test("what fails is told, but not an eviction that a budget refuses: that is a hold", () => {
  const failed: Outcome = { result: "retry", reason: "TooManyRequests", message: "Not now." };
  expect(told({ kind: "delete-node", node, why }, failed)).toEqual({
    tone: "failed",
    object: "delete-node",
    message: "Not now. Because.",
  });
  expect(told({ kind: "evict-pod", pod, why }, failed)).toBeUndefined();
});

const refused = (message: string, until?: number, liftedBy = "A change of its spec."): JournalEntry => ({
  at,
  event: "refused",
  refusal: {
    subject: "pool/web",
    code: "backing-off",
    message,
    liftedBy,
    ...(until === undefined ? {} : { until }),
  },
});

test.each([
  ["Held back.", undefined, "Held back; lifted by a change of its spec"],
  ["Held back.", at, "Held back; until 2026-01-01T00:00:00Z, or lifted by a change of its spec"],
  ["Held back until 2026-01-01T00:00:00Z.", at, "Held back until 2026-01-01T00:00:00Z; lifted by a change of its spec"],
  [
    "Held back until 2025-01-01T00:00:00Z.",
    at,
    "Held back until 2025-01-01T00:00:00Z; at the latest 2026-01-01T00:00:00Z, or lifted by a change of its spec",
  ],
])("a refusal says what holds it, until when, and what lifts it: %s", (message, until, told) => {
  expect(accountLine(refused(message, until))).toEqual({ tone: "held", object: "pool/web", message: told });
});

test.each(["NodeHealthCheck-web giving the lease back", "Succeeded=True on FenceRemediation n", "its recovery"])(
  "a name at the beginning of what lifts it stays as it is: %s",
  liftedBy => {
    const told = accountLine(refused("Held back.", undefined, liftedBy));
    expect(told?.message).toBe(`Held back; lifted by ${liftedBy}`);
  },
);

test("who leads is told", () => {
  expect(accountLine({ at, event: "leading", epoch: 1, message: "Leads." })).toEqual({
    tone: "plain",
    object: "controller",
    message: "Leads.",
  });
});

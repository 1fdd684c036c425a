import { describe, expect, test } from "vitest";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { Command, JournalEntry, Outcome } from "../decide/decision.ts";
import { journalLine } from "./journal-line.ts";

const at = Date.parse("2026-01-01T00:00:00Z");
const claim = { name: "web-1", uid: "u1" };
const launch: Command = { kind: "launch-instance", claim, why: "Claim web-1 has no instance." };
const refusal = {
  subject: "claim/web-1",
  code: "node-not-found",
  message: "No node has it.",
  until: at,
  liftedBy: "the node",
} as const;

const ended = (command: Command, outcome: Outcome): JournalEntry => ({ at, event: "ended", command, outcome });
const levelOf = (entry: JournalEntry) => journalLine(entry).level;

test("a command that has ended is one line with its reason and its facts", () => {
  expect(journalLine(ended(launch, { result: "done" }))).toEqual({
    level: "info",
    message: "Launched instance of claim/web-1: Claim web-1 has no instance.",
    fields: { event: "ended", command: "launch-instance", object: "claim/web-1", result: "done" },
  });
});

test("one that failed says why, and how much that matters", () => {
  const retry = journalLine(ended(launch, { result: "retry", reason: "Throttled", message: "Later." }));
  expect(retry).toMatchObject({
    level: "warn",
    message: "Could not launch instance of claim/web-1: Later. Claim web-1 has no instance.",
  });
  expect(retry.fields).toMatchObject({ reason: "Throttled", result: "retry" });
  expect(levelOf(ended(launch, { result: "refused", reason: "Invalid", message: "Never." }))).toBe("error");
});

test("that a provider lists no machines is no error at the start of every process that has none", () => {
  const list: Command = { kind: "list-instances", why: "It is time." };
  expect(levelOf(ended(list, { result: "refused", reason: "NotSupported", message: "Never." }))).toBe("debug");
  expect(levelOf(ended(list, { result: "refused", reason: "Invalid", message: "Never." }))).toBe("error");
});

const pod = { namespace: "default", name: "p", uid: "p" };
const action = { name: "repair-n1", uid: "a" };
const node = { name: "web-1-abcd", uid: "n" };
const why = "So.";
test.each<[Command, string]>([
  [{ kind: "update-claim", claim, resourceVersion: "1", why }, "Updated claim/web-1: So."],
  [{ kind: "evict-pod", pod, why }, "Evicted pod/default/p: So."],
  [{ kind: "delete-node", node, why }, "Deleted node/web-1-abcd: So."],
  [{ kind: "delete-instance", providerID: "x:///i", why }, "Deleted instance/x:///i: So."],
  [{ kind: "look-up-instance", providerID: "x:///i", why }, "Looked up instance/x:///i: So."],
  [{ kind: "list-instances", why }, "Listed instances: So."],
  [{ kind: "search", for: "disruption", askedAt: at, why }, "Searched for disruption: So."],
  [{ kind: "start-action", action, why }, "Started action/repair-n1: So."],
  [{ kind: "update-safety-policy", policy: node, status: {}, why }, "Updated safety-policy: So."],
])("what is done is told as done: $kind", (command, message) => {
  expect(journalLine(ended(command, { result: "done" })).message).toBe(message);
});

test("what was not done after all is not told as done", () => {
  const start: Command = { kind: "start-action", action, why };
  expect(journalLine(ended(start, { result: "done", note: "given up: it is Ready now" })).message).toBe(
    "Did not start action/repair-n1, given up: it is Ready now. It was to be: So.",
  );
});

describe("what is told only to those who ask for details", () => {
  const why = "It is time.";
  const status: Command = { kind: "update-claim", claim, resourceVersion: "1", status: { nodeName: "n" }, why };
  const steps: Command = {
    kind: "update-action",
    action: claim,
    resourceVersion: "1",
    progress: { steps: [{ name: "drain", isFinished: false }] },
    why,
  };
  test.each<[string, JournalEntry]>([
    [
      "what is decided, since its end will be told",
      { at, event: "decided", rule: "r", subject: "cluster", command: launch },
    ],
    ["that it was so already", ended(launch, { result: "already-so" })],
    ["that the object had moved on", ended(launch, { result: "stale" })],
    ["questions", ended({ kind: "list-instances", why }, { result: "done" })],
    ["a claim's status", ended(status, { result: "done" })],
    ["an action's steps", ended(steps, { result: "done" })],
    ["that a refusal is lifted", { at, event: "lifted", refusal }],
    [
      "what is an Event anyway",
      {
        at,
        event: "noticed",
        notice: { about: { kind: "NodeClaim", ...claim }, type: "Normal", reason: "R", message: "M" },
      },
    ],
  ])("%s", (_, entry) => {
    expect(levelOf(entry)).toBe("debug");
  });

  test("but not a claim's finalizer, nor an action's phase", () => {
    const finalizer: Command = { ...status, metadata: { removeFinalizers: ["f"] } };
    const phase: Command = { ...steps, progress: { phase: "Done" } };
    expect([finalizer, phase].map(command => levelOf(ended(command, { result: "done" })))).toEqual(["info", "info"]);
  });
});

test("a refusal is told once, with what lifts it and when", () => {
  expect(journalLine({ at, event: "refused", refusal })).toEqual({
    level: "info",
    message: "No node has it.",
    fields: {
      event: "refused",
      subject: "claim/web-1",
      code: "node-not-found",
      liftedBy: "the node",
      until: "2026-01-01T00:00:00Z",
    },
  });
});

test("in a dry run what is decided is all there is to tell", () => {
  const decided = { at, event: "decided", rule: "lifecycle", subject: "claim/web-1", command: launch } as const;
  const line = journalLine({ ...decided, isShown: true });
  expect(line).toMatchObject({
    level: "info",
    message: "Would launch instance of claim/web-1: Claim web-1 has no instance.",
    fields: { dryRun: "true", rule: "lifecycle" },
  });
});

test("what a dry run does all the same, reads and records, is not told as what would be done", () => {
  const list: Command = { kind: "list-instances", why: "It is time." };
  expect(levelOf({ at, event: "decided", rule: "garbage", subject: "cluster", command: list })).toBe("debug");
  const spec = { action: "Repair", node: { name: "web-1-abcd", uid: "n" } } as unknown as NodeActionSpec;
  const record: Command = { kind: "open-action", name: "a", spec, phase: "DryRun", why: "It is sick." };
  expect(levelOf({ at, event: "decided", rule: "arbiter", subject: "cluster", command: record })).toBe("debug");
  expect(journalLine(ended(record, { result: "done" }))).toMatchObject({
    level: "info",
    message: "Would begin Repair of node web-1-abcd: It is sick.",
  });
});

test.each(["leading", "following"] as const)("%s is told with the term", event => {
  expect(journalLine({ at, event, epoch: 7, message: "So it is." })).toEqual({
    level: "info",
    message: "So it is.",
    fields: { event, epoch: 7 },
  });
});

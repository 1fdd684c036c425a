import { describe, expect, test } from "vitest";
import type { NodeActionSpec, NodeActionStatus } from "../api/node-action.ts";
import { unstamped } from "../decide/ledger.ts";
import { stampedSpec, statusAfter } from "./action-status.ts";

const now = Date.parse("2026-01-01T10:00:00Z");
const time = "2026-01-01T10:00:00Z";
const earlier = "2026-01-01T09:00:00Z";

describe("the status of an action", () => {
  test("says when it first ran and when it was over", () => {
    expect(statusAfter({}, { phase: "Running" }, now)).toEqual({ phase: "Running", startedAt: time });
    expect(statusAfter({ startedAt: earlier }, { phase: "Running" }, now)).toEqual({ phase: "Running" });
    expect(statusAfter({}, { phase: "Abandoned", outcome: "why" }, now)).toEqual({
      phase: "Abandoned",
      finishedAt: time,
      outcome: "why",
    });
  });

  test("stamps what is new in its steps and keeps the times of the rest", () => {
    const before: NodeActionStatus = {
      phase: "Running",
      steps: [
        { name: "taint", startedAt: earlier, finishedAt: earlier },
        { name: "drain", startedAt: earlier, attempts: 2 },
      ],
    };
    const steps = [
      { name: "taint", isFinished: true },
      { name: "drain", isFinished: true, message: "empty" },
      { name: "volumes", isFinished: false },
    ];
    expect(statusAfter(before, { steps }, now)).toEqual({
      steps: [
        { name: "taint", startedAt: earlier, finishedAt: earlier },
        { name: "drain", startedAt: earlier, attempts: 2, finishedAt: time, message: "empty" },
        { name: "volumes", startedAt: time },
      ],
    });
  });

  test("a step that runs again is not finished", () => {
    const before: NodeActionStatus = { steps: [{ name: "drain", startedAt: earlier, finishedAt: earlier }] };
    const { steps } = statusAfter(before, { steps: [{ name: "drain", isFinished: false }] }, now);
    expect(steps).toEqual([{ name: "drain", startedAt: earlier }]);
  });

  test("a wait for the same reason goes on, one for another begins anew, and null ends it", () => {
    const before: NodeActionStatus = {
      phase: "Running",
      waitingFor: { reason: "Pods", message: "3 pods", since: earlier },
    };
    const same = { waitingFor: { reason: "Pods", message: "2 pods", until: now } };
    expect(statusAfter(before, same, now)).toEqual({
      waitingFor: { reason: "Pods", message: "2 pods", since: earlier, until: time },
    });
    const other = { waitingFor: { reason: "Volumes", message: "1 volume" } };
    expect(statusAfter(before, other, now).waitingFor).toMatchObject({ since: time });
    expect(statusAfter(before, { waitingFor: null }, now)).toEqual({ waitingFor: null });
    expect(statusAfter(before, {}, now)).toEqual({});
  });

  test("says with the first thing that is told that it has not begun", () => {
    const waitingFor = { reason: "Budget", message: "none left" };
    expect(statusAfter({}, { waitingFor }, now)).toMatchObject({ phase: "Pending", waitingFor });
    expect(statusAfter({}, { phase: "Running" }, now)).toEqual({ phase: "Running", startedAt: time });
  });

  test("cuts sentences that the kind would not take", () => {
    const { error = "" } = statusAfter({}, { error: "x".repeat(5000) }, now);
    expect([error.length, error.at(-1)]).toEqual([4096, "…"]);
  });
});

test("every time that a decision left open is that of the write, and no other", () => {
  const seen = { kind: "Condition", seenAt: unstamped } as const;
  const old = { kind: "Condition", seenAt: earlier } as const;
  const askedBy = { kind: "Person", name: "me" } as const;
  const joined = { action: "Repair", askedBy, at: unstamped, message: "", evidence: [seen] } as const;
  const spec: Partial<NodeActionSpec> = {
    evidence: [seen, old],
    decidedAt: unstamped,
    joined: [
      { ...joined, evidence: [seen] },
      { ...joined, at: earlier, evidence: [] },
    ],
  };
  expect(stampedSpec(spec, now)).toEqual({
    evidence: [{ ...seen, seenAt: time }, old],
    decidedAt: time,
    joined: [
      { ...joined, at: time, evidence: [{ ...seen, seenAt: time }] },
      { ...joined, at: earlier, evidence: [] },
    ],
  });
  expect(stampedSpec({ epoch: 2 }, now)).toEqual({ epoch: 2 });
});

// The ledger comes first.

import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aProvider, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { decided, deletedAt, leavingClaim, leavingNode, providerID, settings } from "../../test/termination-world.ts";
import { type Decision, nothing } from "./decision.ts";
import { nodeDeletion } from "./departing.ts";

const now = at("11m");
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);

describe("a claim that is being deleted", () => {
  test("asks for its entry, and nothing is done before", () => {
    const decision = decided(now, { nodes: [aNode("a")], actions: [] });
    expect(decision.commands).toEqual([]);
    expect(codes(decision)).toEqual(["action-not-open"]);
    expect(decision.proposals).toEqual([
      {
        node: { name: "a", uid: "a-uid" },
        claim: { name: "a", uid: "a-claim-uid" },
        action: "Deletion",
        method: "Terminate",
        askedBy: { kind: "Person", name: "unknown" },
        message: "Claim a was deleted at 2026-01-01T00:10:00Z.",
        evidence: [
          {
            kind: "DeletionTimestamp",
            message: "Claim a was deleted at 2026-01-01T00:10:00Z.",
            since: "2026-01-01T00:10:00Z",
          },
        ],
        dueAt: deletedAt,
      },
    ]);
  });

  test("with a grace period says by when", () => {
    const claims = [leavingClaim({ spec: { terminationGracePeriod: "5m" } })];
    expect(decided(now, { claims, actions: [] }).proposals).toMatchObject([{ deadline: at("15m") }]);
  });

  test("joins whatever runs on its node already", () => {
    const actions = [anAction("repair", { spec: { action: "Repair" } })];
    const decision = decided(now, { actions });
    expect(decision.proposals).toEqual([]);
    expect(codes(decision)).toEqual(["late-pods"]);
  });

  test("an entry for each node of its instance", () => {
    const nodes = [leavingNode(), leavingNode({ name: "b" })];
    const decision = decided(now, { nodes, actions: [anAction("x", { node: "a" })] });
    expect(decision.proposals).toMatchObject([{ node: { name: "b" } }]);
    expect(decision.commands).toEqual([]);
  });

  test.each(["Pending", "WaitingForReplacement"] as const)(
    "begins an action that is %s, and waits until it is seen",
    phase => {
      const decision = decided(now, { actions: [anAction("x", { phase })] });
      expect(decision.commands).toMatchObject([
        { kind: "update-action", action: { name: "x" }, resourceVersion: "1", progress: { phase: "Running" } },
      ]);
      expect(codes(decision)).toEqual(["action-not-started"]);
    },
  );

  test("builds nothing on an entry that is not confirmed", () => {
    const decision = decided(now, { actions: [anAction("x", { phase: "Pending", uid: "", isProvisional: true })] });
    expect(decision.commands).toEqual([]);
    expect(codes(decision)).toEqual(["action-not-started"]);
  });

  test.each([0, 2])("waits for the adoption of another leader's action: epoch %d", epoch => {
    const decision = decided(now, { actions: [anAction("x", { spec: { epoch } })] });
    expect(decision.commands).toEqual([]);
    expect(codes(decision)).toEqual(["action-not-adopted"]);
  });

  test("a dry run is no entry", () => {
    const actions = [anAction("x", { phase: "DryRun", spec: { dryRun: true } })];
    expect(codes(decided(now, { actions }))).toEqual(["action-not-open"]);
  });

  test("nor is one that is over", () => {
    const actions = [anAction("x", { phase: "Abandoned" })];
    expect(codes(decided(now, { actions }))).toEqual(["action-not-open"]);
  });
});

describe("a node that was deleted by hand", () => {
  const node = aNode("a", { deletingSince: deletedAt });
  const on = (world: WorldOptions): Decision => {
    const picture = aWorld({ claims: [aClaim("a")], nodes: [node], ...world });
    return nodeDeletion.decide("a", { picture, now, settings, epoch: 1 });
  };

  test("takes its claim along", () => {
    const decision = on({});
    expect(decision.commands).toEqual([]);
    expect(decision.proposals).toMatchObject([
      {
        action: "Deletion",
        node: { name: "a", uid: "a-uid" },
        claim: { name: "a", uid: "a-claim-uid" },
        message: "Node a was deleted at 2026-01-01T00:10:00Z.",
        dueAt: deletedAt,
      },
    ]);
  });

  test.each<[string, WorldOptions]>([
    ["that does not exist", { nodes: [] }],
    ["that is not being deleted", { nodes: [aNode("a")] }],
    ["whose claim goes already", { claims: [leavingClaim()] }],
    ["whose claim is not confirmed yet", { claims: [aClaim("a", { isProvisional: true })] }],
    ["with an action", { actions: [anAction("x")] }],
    ["of another's class", { provider: aProvider({ serves: () => false }) }],
    [
      "that is not ours and has a claim's providerID",
      {
        nodes: [aNode("a", { deletingSince: deletedAt, finalizers: ["x/y"] })],
        claims: [aClaim("c", { providerID })],
      },
    ],
    [
      "that is not ours and has no claim",
      { nodes: [aNode("a", { deletingSince: deletedAt, finalizers: [] })], claims: [] },
    ],
  ])("not one %s", (_what, world) => {
    expect(on(world)).toEqual(nothing);
  });

  test.each<[string, WorldOptions]>([
    ["none", { claims: [] }],
    ["more than one", { claims: [aClaim("a"), aClaim("b", { providerID })] }],
  ])("is left alone with %s of a claim, and says why it stays", (_what, world) => {
    const decision = on(world);
    expect(decision.proposals).toEqual([]);
    expect(decision.refusals).toMatchObject([{ subject: "node/a", code: "no-single-claim" }]);
    const about = { kind: "Node", name: "a", uid: "a-uid" };
    expect(decision.notices).toMatchObject([{ about, type: "Warning", reason: "NoSingleClaim" }]);
  });
});

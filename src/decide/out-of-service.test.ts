import { describe, expect, test } from "vitest";
import { aCondition, anAction, aNode, aPod, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { outOfServiceByKey, outOfServiceTaint } from "../api/well-known.ts";
import { formatTime } from "../api/time.ts";
import type { ActionView, InstanceView, NodeView } from "../snapshot/views.ts";
import { nothing } from "./decision.ts";
import { outOfServiceRule } from "./out-of-service.ts";

const silent = { conditions: [aCondition("Ready", "Unknown")] };
const stuck = aPod("p", { on: "a", deletionAt: at("10m") });
const marked = { ...silent, annotations: { [outOfServiceByKey]: "x" }, taints: [outOfServiceTaint] };
const { key, effect } = outOfServiceTaint;

function node(more: Partial<NodeView> = {}): NodeView {
  return aNode("a", { bootID: "2", ...silent, ...more });
}

function aReboot(more: Partial<Omit<ActionView, "spec">> & { readonly spec?: Partial<ActionView["spec"]> } = {}) {
  const { spec, ...rest } = more;
  const action = anAction("x", { node: "a", spec: { action: "Repair", method: "Reboot", epoch: 1, ...spec } });
  return { ...action, ...rest, status: { phase: "Running" as const, bootID: "1", ...rest.status } };
}

function decide(world: WorldOptions, now = at("20m")) {
  const picture = aWorld({ nodes: [node()], actions: [aReboot()], pods: [stuck], ...world });
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  return outOfServiceRule.decide("a", { picture, now, settings, epoch: 1 });
}

describe("a rebooted node that is not Ready", () => {
  test("is declared out of service where pods that should have stopped are still bound to it", () => {
    expect(decide({}).commands).toMatchObject([
      { kind: "update-node", change: { addTaints: [outOfServiceTaint], annotations: { [outOfServiceByKey]: "x" } } },
    ]);
  });

  test.each([
    ["one millisecond before", at("10m") - 1, 0, at("10m")],
    ["at", at("10m"), 1, undefined],
    ["after", at("10m") + 1, 1, undefined],
  ])("%s the end of a pod's grace", (_, now, commands, wakeAt) => {
    const decision = decide({}, now);
    expect(decision.commands).toHaveLength(commands);
    expect(decision.wakeAt).toBe(wakeAt);
  });

  test.each<[string, WorldOptions]>([
    ["while its boot id is the one from before", { nodes: [node({ bootID: "1" })] }],
    ["while it says no boot id", { nodes: [withoutBootID(node())] }],
    ["where its entry names none", { actions: [aReboot({ status: { phase: "Running" } })].map(withoutBoot) }],
    ["once it is Ready", { nodes: [node({ conditions: [aCondition("Ready", "True")] })] }],
    ["where no pod is left behind", { pods: [aPod("p", { on: "a" })] }],
    ["for a pod that only its kubelet can end", { pods: [{ ...stuck, isStatic: true }] }],
    ["where somebody else has said so", { nodes: [node({ taints: [outOfServiceTaint] })] }],
    ["while it is being deleted", { nodes: [node({ deletingSince: at("1m") })] }],
    ["before the reboot has begun", { actions: [aReboot({ status: { phase: "Pending" } })] }],
    ["by a termination", { actions: [aReboot({ spec: { method: "Terminate" } })] }],
    ["by a dry run", { actions: [aReboot({ spec: { dryRun: true } })] }],
    ["before this term has adopted the reboot", { actions: [aReboot({ spec: { epoch: 0 } })] }],
    ["without an action", { actions: [] }],
    ["that is gone", { nodes: [] }],
  ])("is not declared so %s", (_, world) => expect(kinds(decide(world))).not.toContain("update-node"));
});

function kinds({ commands }: ReturnType<typeof decide>): readonly string[] {
  return commands.map(({ kind }) => kind);
}

describe("a node that has not come back from its reboot", () => {
  const nodes = [node({ bootID: "1" })];
  const providerID = "test:///a";
  const asking = { kind: "look-up-instance", providerID };
  const begun = [aReboot({ status: { phase: "Running", bootID: "1", startedAt: formatTime(at("5m")) } })];
  const seen = (state: InstanceView["state"], seenAt = at("20m")) =>
    decide({ nodes, actions: begun, instances: [{ providerID, state, seenAt }] });

  test("is asked about at its provider's while pods are stuck there", () => {
    expect(decide({ nodes, actions: begun }).commands).toMatchObject([asking]);
    expect(decide({ nodes, actions: begun, pods: [] })).toEqual(nothing);
    expect(decide({ nodes: [node({ bootID: "1", providerID: "" })].map(withoutProviderID), actions: begun })).toEqual(
      nothing,
    );
  });

  test("is declared out of service once its machine is off, says the provider", () => {
    expect(seen("off").commands).toMatchObject([
      {
        kind: "update-node",
        why: expect.stringContaining("was off at 2026-01-01T00:20:00Z, says its provider") as string,
      },
    ]);
  });

  test.each<[string, ReturnType<typeof seen>]>([
    ["while it runs", seen("running")],
    ["while it is only being ended", seen("terminating")],
  ])("is not declared so %s; it is asked about again half a minute later", (_, decision) => {
    expect(decision).toMatchObject({ commands: [], wakeAt: at("20m") + 30_000 });
  });

  test("is not declared so by what was said before the reboot began", () => {
    expect(seen("off", at("5m") - 1).commands).toMatchObject([asking]);
    expect(seen("off", at("5m")).commands).toMatchObject([{ kind: "update-node" }]);
  });
});

function withoutProviderID(view: NodeView): NodeView {
  const { providerID: _said, ...rest } = view;
  return rest;
}

function withoutBootID(view: NodeView): NodeView {
  const { bootID: _said, ...rest } = view;
  return rest;
}

function withoutBoot(action: ActionView): ActionView {
  const { bootID: _said, ...status } = action.status;
  return { ...action, status };
}

describe("what we declared", () => {
  const takenBack = [
    { kind: "update-node", change: { removeTaints: [{ key, effect }], annotations: { [outOfServiceByKey]: null } } },
  ];

  test.each<[string, WorldOptions]>([
    ["the node is Ready again", { nodes: [node({ ...marked, conditions: [aCondition("Ready", "True")] })] }],
    ["the reboot is over", { nodes: [node(marked)], actions: [aReboot({ status: { phase: "Failed" } })] }],
    ["its entry is gone", { nodes: [node(marked)], actions: [] }],
  ])("is taken back when %s", (_, world) => expect(decide(world).commands).toMatchObject(takenBack));

  test("stands while the reboot goes on, also when the pods are gone", () => {
    expect(decide({ nodes: [node(marked)], pods: [] })).toEqual(nothing);
  });
});

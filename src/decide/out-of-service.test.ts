import { describe, expect, test } from "vitest";
import { aCondition, anAction, aNode, aPod, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { outOfServiceByKey, outOfServiceTaint } from "../api/well-known.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
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
  ])("is not declared so %s", (_, world) => expect(decide(world).commands).toEqual([]));
});

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

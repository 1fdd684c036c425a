import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, aWorld, at, t0, type WorldOptions } from "../../test/builders.ts";
import type { Taint } from "../api/taint.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { nodelessSince, registration } from "./registration.ts";

const unregistered: Taint = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
const team: Taint = { key: "team", value: "a", effect: "NoSchedule" };
const network: Taint = { key: "network", effect: "NoExecute" };

const claim = aClaim("a", {
  stage: "launched",
  pool: "web",
  annotations: { owner: "us" },
  spec: { taints: [team], startupTaints: [network] },
});
const joining = (options: Parameters<typeof aNode>[1] = {}) =>
  aNode("a", {
    finalizers: [],
    taints: [unregistered],
    ...options,
    labels: { "karpenter.sh/registered": "", ...options.labels },
  });

const register = (world: WorldOptions, of = claim, now = at("1m")) =>
  registration(of, { picture: aWorld({ claims: [of], ...world }), now });

function changeOf(world: WorldOptions, of = claim) {
  const [command] = register(world, of).commands;
  return command?.kind === "update-node" ? command.change : undefined;
}

describe("the node with the claim's providerID", () => {
  test("gets owner, labels, annotations, taints and finalizer, and loses the taint that kept pods away", () => {
    expect(register({ nodes: [joining()] })).toEqual({
      commands: [
        {
          kind: "update-node",
          node: { name: "a", uid: "a-uid" },
          change: {
            owner: { name: "a", uid: "a-claim-uid" },
            labels: { "karpenter.sh/nodepool": "web", "karpenter.sh/registered": "true" },
            annotations: { owner: "us" },
            addFinalizers: ["karpenter.sh/termination"],
            removeTaints: [unregistered],
            addTaints: [team, network],
          },
          why: "Claim a takes its node.",
        },
      ],
      refusals: [],
      notices: [],
    });
  });

  test("keeps a taint that it has already, whatever its value", () => {
    const nodes = [joining({ taints: [unregistered, { ...team, value: "b" }] })];
    expect(changeOf({ nodes })?.addTaints).toEqual([network]);
  });

  test("gets no taints if whoever made it looks after them, but loses the one of its start", () => {
    const change = changeOf({ nodes: [joining({ labels: { "karpenter.sh/do-not-sync-taints": "true" } })] });
    expect(change?.addTaints).toBeUndefined();
    expect(change?.removeTaints).toEqual([unregistered]);
  });

  test("that came without that taint is told of, and registered all the same", () => {
    const { commands, notices } = register({ nodes: [joining({ taints: [] })] });
    expect(commands.map(({ kind }) => kind)).toEqual(["update-node"]);
    expect(notices).toMatchObject([{ reason: "UnregisteredTaintMissing", type: "Warning", about: { kind: "Node" } }]);
  });

  test("that brought the label along is not taken for registered", () => {
    const nodes = [joining({ labels: { "karpenter.sh/registered": "true" } })];
    expect(changeOf({ nodes })?.addFinalizers).toEqual(["karpenter.sh/termination"]);
  });

  test("that shows label and finalizer is registered: startup taints do not come back", () => {
    const node = aNode("a", { taints: [] });
    expect(register({ nodes: [node] })).toMatchObject({
      condition: { type: "Registered", status: "True", reason: "Registered" },
      node,
      commands: [],
    });
  });

  test("made anew under a registered claim gets all but the startup taints, without a word", () => {
    const registered = aClaim("a", { stage: "registered", spec: claim.spec });
    const { commands, notices, condition } = register({ nodes: [joining({ taints: [] })] }, registered);
    expect(commands).toMatchObject([{ kind: "update-node", change: { addTaints: [team] } }]);
    expect([notices, condition]).toEqual([[], undefined]);
  });
});

describe("a node that has only just joined", () => {
  const plain = aClaim("a", { stage: "launched", pool: "web" });
  const unready: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const notReady = joining({ ready: "False", taints: [unregistered, unready] });
  const labelsAt = (world: WorldOptions, of = plain, now = t0) => {
    const [command] = register(world, of, now).commands;
    return command?.kind === "update-node" ? command.change.labels : undefined;
  };
  const initialized = { "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true" };

  test("and is up is registered and initialized by one write", () => {
    expect(labelsAt({ nodes: [joining({ labels: { "karpenter.sh/initialized": "" } })] })).toMatchObject(initialized);
  });

  test("is waited for until it is up, or for five seconds", () => {
    const world = { nodes: [notReady] };
    const waiting = register(world, plain, at("4999ms"));
    expect(waiting).toMatchObject({ commands: [], wakeAt: at("5s"), notices: [] });
    expect(waiting.refusals).toMatchObject([{ subject: "claim/a", code: "node-coming-up", until: at("5s") }]);
    expect(waiting).not.toHaveProperty("condition");
    expect(waiting).toEqual(register(world, plain, t0));
    expect(labelsAt(world, plain, at("5s"))).toEqual({
      "karpenter.sh/nodepool": "web",
      "karpenter.sh/registered": "true",
    });
  });

  test("and is Ready is waited for as long as Kubernetes' own taint of its start is there", () => {
    expect(register({ nodes: [joining({ taints: [unregistered, unready] })] }, plain, t0).commands).toEqual([]);
  });

  test.each<[string, NodeView, ClaimView]>([
    ["that came without the taint: pods may be there", { ...notReady, taints: [unready] }, plain],
    ["under a claim that was registered before", notReady, aClaim("a", { stage: "registered" })],
    ["whose startup taints somebody else takes off", notReady, claim],
    [
      "that lacks what is asked for: its driver may wait for labels",
      notReady,
      aClaim("a", { stage: "launched", spec: { requests: { "example.com/gpu": "1" } } }),
    ],
  ])("is not waited for %s", (_, node, of) => {
    const labels = labelsAt({ nodes: [node] }, of);
    expect(labels).toMatchObject({ "karpenter.sh/registered": "true" });
    expect(labels).not.toHaveProperty("karpenter.sh/initialized");
  });
});

describe("in doubt no node is touched", () => {
  const twin = aNode("b", { providerID: "test:///a" });
  const rival = aClaim("z", { stage: "launched", providerID: "test:///a" });

  test.each<[string, WorldOptions, string, string, string, string]>([
    ["no node has joined", {}, "node-not-found", "Unknown", "NodeNotFound", "No node has the providerID test:///a."],
    [
      "two nodes have the providerID",
      { nodes: [joining(), twin] },
      "multiple-nodes-found",
      "False",
      "MultipleNodesFound",
      "2 nodes have the providerID test:///a: a, b.",
    ],
    [
      "two claims have the providerID",
      { nodes: [joining()], claims: [claim, rival] },
      "multiple-claims-found",
      "Unknown",
      "MultipleClaimsFound",
      "Node a has the providerID test:///a, and so have several claims.",
    ],
    [
      "the node is being deleted",
      { nodes: [joining({ deletingSince: t0 })] },
      "node-deleting",
      "Unknown",
      "NodeTerminating",
      "Node a is being deleted.",
    ],
  ])("%s", (_, world, code, status, reason, message) => {
    const step = register(world);
    expect(step.commands).toEqual([]);
    expect(step.node).toBeUndefined();
    expect(step.refusals).toMatchObject([{ subject: "claim/a", code, message }]);
    expect(step.condition).toEqual({ type: "Registered", status, reason, message });
  });

  test("a claim that was registered stays so, and is not ready", () => {
    const registered = aClaim("a", { stage: "registered" });
    const step = register({ nodes: [aNode("a"), twin] }, registered);
    expect(step.condition).toBeUndefined();
    expect(step.refusals).toMatchObject([{ code: "multiple-nodes-found" }]);
    const message = "2 nodes have the providerID test:///a: a, b.";
    expect(step.doubt).toEqual({ reason: "MultipleNodesFound", message });
  });

  test("a node that is being deleted makes no registered claim unready: the claim goes too", () => {
    const step = register({ nodes: [aNode("a", { deletingSince: t0 })] }, aClaim("a", { stage: "registered" }));
    expect([step.doubt, step.condition]).toEqual([undefined, undefined]);
    expect(step.refusals).toMatchObject([{ code: "node-deleting" }]);
  });

  test("a claim says since when its node is gone", () => {
    const gone = aCondition("Ready", "False", { reason: "NodeNotFound", since: at("1h") });
    const registered = aClaim("a", { stage: "registered" });
    const others = (type: string) => registered.conditions.filter(one => one.type !== type);
    expect(nodelessSince({ ...registered, conditions: [...others("Ready"), gone] })).toBe(at("1h"));
    expect(nodelessSince({ ...registered, conditions: [...others("Registered"), gone] })).toBeUndefined();
    const shared = { ...gone, reason: "MultipleClaimsFound" };
    expect(nodelessSince({ ...registered, conditions: [...others("Ready"), shared] })).toBeUndefined();
    expect(nodelessSince(registered)).toBeUndefined();
  });

  test("it is judged again once the second node has gone", () => {
    const conditions = [aCondition("Registered", "False", { reason: "MultipleNodesFound" })];
    const step = register({ nodes: [joining()] }, { ...claim, conditions });
    expect(step.commands.map(({ kind }) => kind)).toEqual(["update-node"]);
  });
});

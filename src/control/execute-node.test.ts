import { describe, expect, test } from "vitest";
import { EmbeddedExecution, resources, targetOf } from "../../test/embedded-execution.ts";
import type { Taint } from "../api/taint.ts";
import type { KubeObject } from "../api/meta.ts";
import type { Command, NodeChange } from "../decide/decision.ts";

const { nodes, pods } = resources;
type Node = KubeObject & { spec: { taints?: { key: string; effect: string }[] } };

const theirs = { key: "test/theirs", effect: "NoSchedule" } as const;
const disrupted = { key: "karpenter.sh/disrupted", effect: "NoSchedule" } as const;

async function aNode(execution: EmbeddedExecution, more: object = {}, spec: object = {}): Promise<Node> {
  return execution.create<Node>(nodes, { metadata: { name: "n", ...more }, spec });
}

const update = (node: Node, change: NodeChange): Command => ({
  kind: "update-node",
  node: targetOf(node),
  change,
  why: "",
});

describe("update-node", () => {
  test("changes lists among what others have written there since the picture was made", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    await execution.patch(nodes, "n", { metadata: { finalizers: ["test/theirs"] }, spec: { taints: [theirs] } });
    const owner = { name: "claim", uid: "claim-uid" };
    const change = { addTaints: [disrupted], addFinalizers: ["test/ours"], owner, labels: { a: "1" } };
    expect(await execution.execute(update(node, change))).toEqual({ result: "done" });
    const written = await execution.get<Node>(nodes, "n");
    expect(written?.spec.taints).toEqual([theirs, disrupted]);
    expect(written?.metadata).toMatchObject({
      finalizers: ["test/theirs", "test/ours"],
      ownerReferences: [{ kind: "NodeClaim", name: "claim", blockOwnerDeletion: true }],
      labels: { a: "1" },
    });
    expect(execution.picture.node("n")?.taints).toEqual([theirs, disrupted]);
  });

  test("tries once more when somebody was quicker, and gives up the second time", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    let rivals = 1;
    execution.interfere = async call => {
      if (call === "patch nodes" && rivals-- > 0)
        await execution.patch(nodes, "n", { spec: { taints: [{ ...theirs, value: `${rivals}` }] } });
    };
    expect(await execution.execute(update(node, { addTaints: [disrupted] }))).toEqual({ result: "done" });
    expect((await execution.get<Node>(nodes, "n"))?.spec.taints).toEqual([{ ...theirs, value: "0" }, disrupted]);
    rivals = 2;
    expect(await execution.execute(update(node, { addFinalizers: ["test/ours"] }))).toEqual({ result: "stale" });
  });

  test("cordons and uncordons, together with the annotation that says whose it is", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    const ours: NodeChange = { isCordoned: true, annotations: { "test/by": "us" } };
    expect(await execution.execute(update(node, ours))).toEqual({ result: "done" });
    expect(await execution.execute(update(node, ours))).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual(["patch nodes"]);
    expect(execution.picture.node("n")).toMatchObject({ isCordoned: true, annotations: { "test/by": "us" } });
    const over: NodeChange = { isCordoned: false, annotations: { "test/by": null } };
    expect(await execution.execute(update(node, over))).toEqual({ result: "done" });
    expect(execution.picture.node("n")).toMatchObject({ isCordoned: false, annotations: {} });
    expect((await execution.get<Node>(nodes, "n"))?.spec).not.toHaveProperty("unschedulable");
  });

  test("does not call a cordon its own that somebody was quicker to set", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    await execution.patch(nodes, "n", { spec: { unschedulable: true } });
    const ours: NodeChange = { isCordoned: true, annotations: { "test/by": "us" } };
    expect(await execution.execute(update(node, ours))).toEqual({ result: "already-so" });
    expect((await execution.get<Node>(nodes, "n"))?.metadata.annotations).toBeUndefined();
    expect(execution.picture.node("n")?.isCordoned).toBe(true);
  });

  test("sends nothing where all is so already, and the picture learns it", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    await execution.patch(nodes, "n", { spec: { taints: [disrupted] } });
    expect(await execution.execute(update(node, { addTaints: [disrupted] }))).toEqual({ result: "already-so" });
    expect(execution.writes).toEqual([]);
    expect(execution.picture.node("n")?.taints).toEqual([disrupted]);
    expect(await execution.execute(update(node, {}))).toEqual({ result: "already-so" });
  });

  const adoption: NodeChange = {
    owner: { name: "claim", uid: "claim-uid" },
    addFinalizers: ["test/ours"],
    removeTaints: [theirs],
    labels: { a: "1" },
  };

  test("takes a node that has only just joined as the watch has shown it, without a read", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution, {}, { taints: [theirs, disrupted] });
    execution.picture.answered("node", node);
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    expect(await execution.execute(update(node, adoption))).toEqual({ result: "done" });
    expect(calls).toEqual(["patch nodes"]);
    const taints = (await execution.get<Node>(nodes, "n"))?.spec.taints;
    expect(taints).toContainEqual(disrupted);
    expect(taints).not.toContainEqual(theirs);
    expect(execution.picture.node("n")?.owners).toHaveLength(1);
  });

  test("without one also where somebody has written to it since what that does not touch", async () => {
    const execution = new EmbeddedExecution();
    const seen = { labels: { "test.io/a": "0" }, annotations: { "test.io/gone": "0" } };
    const node = await aNode(execution, seen, { taints: [theirs] });
    execution.picture.answered("node", node);
    await execution.patch(nodes, "n", {
      metadata: { labels: { "test.io/b": "2" }, annotations: { "test.io/d": "3" } },
    });
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    const annotations = { "test.io/e": "4", "test.io/gone": null };
    const change = { ...adoption, labels: { "test.io/a": "1" }, annotations };
    expect(await execution.execute(update(node, change))).toEqual({ result: "done" });
    expect(calls).toEqual(["patch nodes"]);
    expect(execution.picture.node("n")).toMatchObject({
      labels: { "test.io/a": "1", "test.io/b": "2" },
      annotations: { "test.io/d": "3", "test.io/e": "4" },
      finalizers: ["test/ours"],
      owners: [{ name: "claim" }],
    });
    expect(execution.picture.node("n")?.annotations).not.toHaveProperty("test.io/gone");
    expect(execution.picture.node("n")?.taints).not.toContainEqual(theirs);
  });

  test("reads it where somebody has put a finalizer on it since", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution, {}, { taints: [theirs] });
    execution.picture.answered("node", node);
    await execution.patch(nodes, "n", { metadata: { finalizers: ["test/theirs"] } });
    expect(await execution.execute(update(node, adoption))).toEqual({ result: "done" });
    expect(execution.picture.node("n")?.finalizers).toEqual(["test/theirs", "test/ours"]);
  });

  test.each<[string, Taint[], string[]]>([
    ["that another taint came", [theirs, disrupted], ["patch nodes"]],
    ["that its own is elsewhere", [disrupted, theirs], ["patch nodes", "get nodes n", "patch nodes"]],
    ["that its own is gone", [disrupted], ["patch nodes", "get nodes n", "patch nodes"]],
  ])("does not mind, or reads it after all: %s", async (_, since, expected) => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    execution.picture.answered("node", await execution.patch(nodes, "n", { spec: { taints: [theirs] } }));
    await execution.patch(nodes, "n", { spec: { taints: since } });
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    const addTaints = [{ key: "test/new", effect: "NoSchedule" as const }];
    expect(await execution.execute(update(node, { ...adoption, addTaints }))).toEqual({ result: "done" });
    expect(calls).toEqual(expected);
    expect((await execution.get<Node>(nodes, "n"))?.spec.taints).toEqual([disrupted, ...addTaints]);
  });

  test("writes labels without a read", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    const calls: string[] = [];
    execution.interfere = call => void calls.push(call);
    expect(await execution.execute(update(node, { labels: { a: "1" } }))).toEqual({ result: "done" });
    expect(calls).toEqual(["patch nodes"]);
  });

  test.each<[string, NodeChange]>([
    ["labels", { labels: { a: "1" } }],
    ["taints", { addTaints: [disrupted] }],
  ])("leaves another node of the same name alone (%s)", async (_, change) => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    await execution.remove(nodes, "n");
    await aNode(execution);
    expect(await execution.execute(update(node, change))).toEqual({ result: "stale" });
    const written = await execution.get<Node>(nodes, "n");
    expect(written?.spec.taints ?? []).not.toContainEqual(disrupted);
    expect(written?.metadata.labels ?? {}).not.toHaveProperty("a");
  });

  test("the last finalizer of a deleted node ends it", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution, { finalizers: ["karpenter.sh/termination"] });
    const removal: Command = { kind: "delete-node", node: targetOf(node), why: "" };
    expect(await execution.execute(removal)).toEqual({ result: "done" });
    expect(execution.picture.node("n")?.deletingSince).toBe(execution.clock.now());
    const release = update(node, { removeFinalizers: ["karpenter.sh/termination"] });
    expect(await execution.execute(release)).toEqual({ result: "done" });
    expect([await execution.get(nodes, "n"), execution.picture.node("n")]).toEqual([undefined, undefined]);
    expect(await execution.execute(release)).toEqual({ result: "already-so" });
  });
});

describe("delete-node", () => {
  test("spares another node of the same name; one that is gone is gone in the picture too", async () => {
    const execution = new EmbeddedExecution();
    const node = await aNode(execution);
    await execution.remove(nodes, "n");
    const removal: Command = { kind: "delete-node", node: targetOf(node), why: "" };
    expect(await execution.execute(removal)).toEqual({ result: "already-so" });
    expect(execution.picture.node("n")).toBeUndefined();
    await aNode(execution);
    expect(await execution.execute(removal)).toEqual({ result: "stale" });
    expect(await execution.get(nodes, "n")).toBeDefined();
  });
});

describe("pods", () => {
  async function aPod(
    execution: EmbeddedExecution,
    more: object = { nodeName: "n" },
  ): Promise<KubeObject & { metadata: { namespace: string } }> {
    await execution.settle(
      execution.server
        .create(
          { group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true },
          { namespace: "default" },
          {
            apiVersion: "v1",
            kind: "ServiceAccount",
            metadata: { name: "default" },
          },
        )
        .catch(() => undefined),
    );
    const spec = { ...more, terminationGracePeriodSeconds: 600, containers: [{ name: "c", image: "i" }] };
    const pod = await execution.create(pods, { metadata: { name: "p" }, spec });
    return pod as KubeObject & { metadata: { namespace: string } };
  }
  const podTarget = (pod: { metadata: { name: string; uid: string; namespace: string } }) => {
    const { name, uid, namespace } = pod.metadata;
    return { name, uid, namespace };
  };

  test("are told where to go", async () => {
    const execution = new EmbeddedExecution();
    const pod = podTarget(await aPod(execution, {}));
    const command: Command = { kind: "nominate-pod", pod, nodeName: "n", why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(await execution.get(pods, "p")).toMatchObject({ status: { nominatedNodeName: "n" } });
    expect(execution.picture.pod("default", "p")?.nominatedNode).toBe("n");
    expect(execution.writes).toEqual(["patch-status pods"]);
  });

  test("are not told where to go once they are bound, nor in place of another of the same name", async () => {
    const execution = new EmbeddedExecution();
    const pod = podTarget(await aPod(execution));
    const told = { kind: "nominate-pod", pod, nodeName: "m", why: "" } as const;
    expect(await execution.execute(told)).toEqual({ result: "stale" });
    expect(await execution.execute({ ...told, pod: { ...pod, uid: "another" } })).toEqual({ result: "stale" });
    expect((await execution.get<KubeObject & { status: object }>(pods, "p"))?.status).not.toHaveProperty(
      "nominatedNodeName",
    );
  });

  test("are evicted with their own grace", async () => {
    const execution = new EmbeddedExecution();
    const pod = await aPod(execution);
    expect(await execution.execute({ kind: "evict-pod", pod: podTarget(pod), why: "" })).toEqual({ result: "done" });
    expect((await execution.get(pods, "p"))?.metadata.deletionGracePeriodSeconds).toBe(600);
  });

  test("are not evicted past their budget, nor in place of another of the same name", async () => {
    const execution = new EmbeddedExecution();
    const pod = await aPod(execution);
    const other = { ...podTarget(pod), uid: "another" };
    expect(await execution.execute({ kind: "evict-pod", pod: other, why: "" })).toEqual({ result: "stale" });
    const budgets = {
      group: "policy",
      version: "v1",
      plural: "poddisruptionbudgets",
      kind: "PodDisruptionBudget",
      namespaced: true,
    };
    const spec = { minAvailable: 1, selector: {} };
    const budget = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "b" }, spec };
    await execution.settle(execution.server.create(budgets, { namespace: "default" }, budget));
    await execution.patch(pods, "p", { status: { phase: "Running" } });
    expect(await execution.execute({ kind: "evict-pod", pod: podTarget(pod), why: "" })).toMatchObject({
      result: "retry",
      reason: "TooManyRequests",
    });
    expect((await execution.get(pods, "p"))?.metadata).not.toHaveProperty("deletionTimestamp");
  });

  test.each([
    ["the whole seconds to the deadline", 90_999, 90],
    ["at least one second", -5_000, 1],
    ["at least one second, also at the deadline itself", 0, 1],
  ])("are deleted by force with %s", async (_, inMs, seconds) => {
    const execution = new EmbeddedExecution();
    const pod = await aPod(execution);
    const deadline = execution.clock.now() + inMs;
    const command: Command = { kind: "delete-pod", pod: podTarget(pod), deadline, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect((await execution.get(pods, "p"))?.metadata.deletionGracePeriodSeconds).toBe(seconds);
    expect(execution.picture.pod("default", "p")?.deletionAt).toBe(execution.clock.now() + seconds * 1000);
  });

  test.each([{}, { isMachineGone: true } as const])(
    "are not deleted in place of another of the same name: %o",
    async more => {
      const execution = new EmbeddedExecution();
      const other = { ...podTarget(await aPod(execution)), uid: "another" };
      const command: Command = { kind: "delete-pod", pod: other, deadline: 0, why: "", ...more };
      expect(await execution.execute(command)).toEqual({ result: "stale" });
      expect((await execution.get(pods, "p"))?.metadata).not.toHaveProperty("deletionTimestamp");
    },
  );

  test("whose machine is gone are gone at once", async () => {
    const execution = new EmbeddedExecution();
    const pod = await aPod(execution);
    const deadline = execution.clock.now() + 90_000;
    const command: Command = { kind: "delete-pod", pod: podTarget(pod), deadline, isMachineGone: true, why: "" };
    expect(await execution.execute(command)).toEqual({ result: "done" });
    expect(await execution.get(pods, "p")).toBeUndefined();
  });

  test.each(["evict-pod", "delete-pod"] as const)("that are gone are gone in the picture too (%s)", async kind => {
    const execution = new EmbeddedExecution();
    const pod = await aPod(execution);
    await execution.remove(pods, "p");
    expect(await execution.execute({ kind, pod: podTarget(pod), deadline: 0, why: "" })).toEqual({
      result: "already-so",
    });
    expect(execution.picture.pod("default", "p")).toBeUndefined();
  });
});

import { describe, expect, test } from "vitest";
import type { Manifest } from "../../api/meta.ts";
import type { ApiRequest } from "../request.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { seededRandom } from "../random.ts";
import { ActiveFaults } from "./active-faults.ts";
import { Invariants } from "./invariants.ts";
import { ClusterObjects } from "./objects.ts";
import { observedServer } from "./observed-server.ts";
import { Process } from "./process.ts";
import { WatchLines } from "./watch-lines.ts";

const startedAt = Date.parse("2026-01-01T00:00:00Z");
const providerID = "simulated:///test-zone-a/i-1";

/** A cluster with a claim, its node and a pod, and a process that writes to it. */
function scene() {
  const clock = new VirtualClock(startedAt);
  const random = seededRandom(1);
  const server = clusterInTheBox({ clock, random });
  const objects = new ClusterObjects(server);
  const watches = new WatchLines(clock, random, { delayMaxMs: 0 });
  const found: string[] = [];
  const violated = (message: string) => found.push(message);
  const invariants = new Invariants({ clock, objects, watches, apiFaults: new ActiveFaults(clock, random), violated });
  server.store.onChange(({ name }, change) => invariants.changed(name, change));
  const process = new Process(clock, 1);
  const controller = observedServer(server, process, invariants);
  const uidOf = (collection: string, key: string) => objects.get(collection, key)?.metadata.uid ?? "";
  const write = (request: Partial<ApiRequest> & Pick<ApiRequest, "verb" | "plural">) => {
    controller.handle({ group: "", version: "v1", options: {}, ...request });
    return found.splice(0).map(message => message.split(" ")[0]);
  };
  const remove = (plural: "nodes" | "pods" | "nodeclaims", name: string, uid?: string) => {
    const group = plural === "nodeclaims" ? { group: "karpenter.sh" } : {};
    const collection = plural === "nodeclaims" ? "nodeclaims.karpenter.sh" : plural;
    const key = plural === "pods" ? `default/${name}` : name;
    const body = { preconditions: { uid: uid ?? uidOf(collection, key) } };
    return write({ verb: "delete", plural, name, body, ...group, ...(plural === "pods" && { namespace: "default" }) });
  };
  objects.apply({ ...node, spec: { providerID } });
  objects.apply(claim("c"));
  objects.patch(claim("c"), { status: { providerID, nodeName: "n" } }, "status");
  objects.apply(pod("p"));
  const open = (name: string, node = "n", more: object = {}) => {
    const manifest = action(name, { name: node, uid: uidOf("nodes", node) }, more);
    return write({ verb: "create", group: "fettle.dev", version: "v1alpha1", plural: "nodeactions", body: manifest });
  };
  return { clock, objects, watches, process, open, write, remove, uidOf };
}

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
const registered = { type: "Registered", status: "True", ...since() };
/** The claim says that there is no way back. */
const ended = {
  status: { conditions: [registered, { type: "InstanceTerminating", status: "True", ...since() }] },
};

function since() {
  return { reason: "r", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };
}

const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };

const claim = (name: string) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name, finalizers: ["karpenter.sh/termination"] },
  spec: { requirements: [] },
});

const podSpec = { nodeName: "n", terminationGracePeriodSeconds: 30, containers: [{ name: "c", image: "c" }] };

function pod(name: string, annotations: Record<string, string> = {}): Manifest {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", annotations },
    spec: podSpec,
  };
}

function action(name: string, node: { name: string; uid: string }, more: object): Manifest {
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "NodeAction",
    metadata: { name },
    spec: {
      node,
      action: "ScaleDown",
      method: "Terminate",
      askedBy: { kind: "NodePool", name: "web" },
      message: "m",
      evidence: [],
      decidedAt: "2026-01-01T00:00:00Z",
      epoch: 1,
      ...more,
    },
  };
}

const evict = (name: string, uid: string): Parameters<ReturnType<typeof scene>["write"]>[0] => ({
  verb: "create",
  plural: "pods",
  subresource: "eviction",
  namespace: "default",
  name,
  body: {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name, namespace: "default" },
    deleteOptions: { preconditions: { uid } },
  },
});

describe("evidence first", () => {
  test("what is taken away without an open action is found", () => {
    const { remove, write, uidOf } = scene();
    expect(remove("nodeclaims", "c")).toEqual(["I5"]);
    expect(write(evict("p", uidOf("pods", "default/p")))).toEqual(["I5"]);
    expect(remove("nodes", "n")).toEqual(["I5"]);
  });

  test("with one it is as it should be", () => {
    const { open, remove, write, uidOf } = scene();
    expect(open("a")).toEqual([]);
    expect(write(evict("p", uidOf("pods", "default/p")))).toEqual([]);
    expect(remove("nodeclaims", "c")).toEqual([]);
    expect(remove("nodes", "n")).toEqual([]);
  });

  test("an action of a dry run, or of another node, is no evidence", () => {
    const { open, remove, objects } = scene();
    objects.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "other" } });
    open("a", "n", { dryRun: true });
    open("b", "other");
    expect(remove("nodes", "n")).toEqual(["I5"]);
  });

  test("a delete that is meant for another object does nothing, one that is meant for any is wrong", () => {
    const { remove, write } = scene();
    expect(remove("nodes", "n", "another")).toEqual([]);
    expect(write({ verb: "delete", plural: "nodes", name: "n", body: {} })).toEqual(["P1"]);
  });
});

describe("pods", () => {
  test("that are not to be disrupted are not evicted", async () => {
    const { open, write, objects, uidOf, clock } = scene();
    open("a");
    objects.apply(pod("q", { "karpenter.sh/do-not-disrupt": "true" }));
    expect(write(evict("q", uidOf("pods", "default/q")))).toEqual([]); // it may not have been seen yet
    objects.apply(pod("r", { "karpenter.sh/do-not-disrupt": "true" }));
    await clock.runFor(60_000);
    expect(write(evict("r", uidOf("pods", "default/r")))).toEqual(["I6"]);
  });

  test("that are not to be disrupted are evicted once their pool bears it no longer", async () => {
    const { open, write, objects, uidOf, clock } = scene();
    open("a");
    const spec = { disruption: { maxDoNotDisrupt: "10m" } };
    objects.apply({ apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "web" }, spec });
    objects.patch(claim("c"), { metadata: { labels: { "karpenter.sh/nodepool": "web" } } });
    objects.apply(pod("q", { "karpenter.sh/do-not-disrupt": "true" }));
    objects.patch(pod("q"), { status: { startTime: "2026-01-01T00:00:00Z" } }, "status");
    await clock.runFor(10 * 60_000 - 1);
    expect(write(evict("q", uidOf("pods", "default/q")))).toEqual(["I6"]);
    await clock.runFor(1);
    expect(write(evict("q", uidOf("pods", "default/q")))).toEqual([]);
  });

  test("are deleted by force only when the deadline of their node leaves them no more than their grace", async () => {
    const { open, remove, objects, clock } = scene();
    open("a");
    expect(remove("pods", "p")).toEqual([]); // the node is not Ready and there is no instance: nothing runs there
    objects.patch(node, ready, "status");
    objects.apply(pod("p"));
    expect(remove("pods", "p")).toEqual(["I6"]);
    objects.apply(pod("q"));
    const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T00:01:00Z" };
    objects.patch(claim("c"), { metadata: { annotations } });
    await clock.runFor(28_999);
    expect(remove("pods", "q")).toEqual(["I6"]);
    objects.apply(pod("r"));
    await clock.runFor(1_001);
    expect(remove("pods", "r")).toEqual([]);
  });
});

test("a pod that stops as soon by itself is not hurried by a delete that gives it no less", () => {
  const { open, write, objects, uidOf } = scene();
  open("a");
  objects.patch(node, ready, "status");
  objects.patch(pod("p"), { metadata: { finalizers: ["example.com/stuck"] } });
  objects.delete(pod("p"));
  const told = (gracePeriodSeconds: number) => {
    const body = { preconditions: { uid: uidOf("pods", "default/p") }, gracePeriodSeconds };
    return write({ verb: "delete", plural: "pods", namespace: "default", name: "p", body });
  };
  expect(told(30)).toEqual([]);
  expect(told(29)).toEqual(["I6"]);
});

test("a pod is forgotten only where its machine is gone, then also of a node that still says Ready", () => {
  const { open, write, objects, uidOf } = scene();
  open("a");
  objects.patch(node, ready, "status");
  const forgets = (name: string) => {
    const body = { preconditions: { uid: uidOf("pods", `default/${name}`) }, gracePeriodSeconds: 0 };
    return write({ verb: "delete", plural: "pods", namespace: "default", name, body });
  };
  objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "fettle-simulated" } });
  const machine = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "i-1", namespace: "fettle-simulated" } };
  objects.apply(machine);
  objects.patch(claim("c"), ended, "status");
  expect(forgets("p")).toEqual(["I6", "I6"]);
  objects.delete(machine);
  objects.apply(pod("q"));
  expect(forgets("q")).toEqual([]);
});

test("a node has one open action at most", () => {
  const { open } = scene();
  expect(open("a")).toEqual([]);
  expect(open("b")).toEqual(["I4"]);
});

test("nodes of others are not written to", () => {
  const { write, remove, objects } = scene();
  objects.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "stranger" } });
  const body = { metadata: { labels: { a: "b" } } };
  expect(write({ verb: "patch", plural: "nodes", name: "n", patchType: "merge", body })).toEqual([]);
  expect(write({ verb: "patch", plural: "nodes", name: "stranger", patchType: "merge", body })).toEqual(["U1"]);
  expect(remove("nodes", "stranger")).toEqual(["U1"]);
});

test("but a person's word that one is well is taken off, and nothing with it", () => {
  const { write, objects } = scene();
  objects.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "stranger" } });
  const annotations = { "remediation.medik8s.io/manually-confirmed-healthy": null };
  const patch = (body: object) => write({ verb: "patch", plural: "nodes", name: "stranger", patchType: "merge", body });
  expect(patch({ metadata: { annotations } })).toEqual([]);
  expect(patch({ metadata: { annotations, labels: { a: "b" } } })).toEqual(["U1"]);
  expect(patch({ metadata: { annotations }, spec: { unschedulable: true } })).toEqual(["U1"]);
});

test("a node is somebody else's although it has a claim's providerID, unless it is the only one and the claim stays", () => {
  const { write, remove, objects } = scene();
  const patch = (name: string) => {
    const body = { metadata: { labels: { a: "b" } } };
    return write({ verb: "patch", plural: "nodes", name, patchType: "merge", body });
  };
  objects.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "twin" }, spec: { providerID } });
  expect(patch("twin")).toEqual(["U1"]);
  expect(remove("nodes", "twin")).toEqual(["U1"]);
  objects.patch(claim("c"), { status: { nodeName: null } }, "status");
  expect(patch("n")).toEqual([]);
  objects.delete(claim("c"));
  expect(patch("n")).toEqual(["U1"]);
});

test("one that no longer leads writes nothing", () => {
  const { process, open } = scene();
  process.fence();
  expect(open("a")).toEqual(["I8"]);
});

test("nothing destructive is written on a silent watch, once it has been silent for too long", async () => {
  const { watches, clock, open, write } = scene();
  watches.strike({ fault: "Stall", since: clock.monotonic(), until: 600_000, delayMs: 0, resources: ["nodes"] });
  await clock.runFor(104_999);
  expect(open("a")).toEqual([]);
  await clock.runFor(1);
  const body = { metadata: { labels: { a: "b" } } };
  expect(write({ verb: "patch", plural: "nodes", name: "n", patchType: "merge", body })).toEqual([]);
  expect(open("b", "other")).toEqual(["I2"]);
  // What a list brings is no older than it.
  write({ verb: "list", plural: "nodes" });
  expect(open("c", "third")).toEqual([]);
  await clock.runFor(105_000);
  expect(open("d", "fourth")).toEqual(["I2"]);
});

describe("caps", () => {
  const policy = (all: object) => ({
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    metadata: { name: "default" },
    spec: { caps: { all } },
  });
  const nodeIn = (zone: string, name: string) => ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "topology.kubernetes.io/zone": zone } },
  });

  test.each([
    ["cluster", { cluster: 1 }, {}],
    ["zone", { zone: 1 }, { zone: "a" }],
    ["perWindow", { perWindow: { nodes: 1, duration: "1h" } }, {}],
  ])("on the %s are held when another action starts", (_, all, more) => {
    const { objects, open } = scene();
    objects.apply(policy(all));
    objects.apply(nodeIn("a", "m"));
    expect(open("a", "n", more)).toEqual([]);
    expect(open("b", "m", more)).toEqual(["I1"]);
  });

  test("count what has gone within the window, and not what went before it", async () => {
    const { objects, open, clock } = scene();
    objects.apply(policy({ perWindow: { nodes: 1, duration: "1h" } }));
    objects.apply(nodeIn("a", "m"));
    open("a");
    const done = { status: { phase: "Done", finishedAt: "2026-01-01T00:00:00Z" } };
    objects.patch(action("a", { name: "n", uid: "" }, {}), done, "status");
    await clock.runFor(3_599_999);
    expect(open("b", "m")).toEqual(["I1"]);
    objects.delete(action("b", { name: "m", uid: "" }, {}));
    await clock.runFor(1);
    expect(open("c", "m")).toEqual([]);
  });

  test.each(["Done", "Failed"])("leave its place in the window to what goes on with the same node: %s", phase => {
    const { objects, open } = scene();
    objects.apply(policy({ perWindow: { nodes: 1, duration: "1h" } }));
    open("a");
    const done = { status: { phase, finishedAt: "2026-01-01T00:00:00Z" } };
    objects.patch(action("a", { name: "n", uid: "" }, {}), done, "status");
    objects.apply(policy({ perWindow: { nodes: 0, duration: "1h" } }));
    expect(open("a-2", "n")).toEqual([]);
  });

  test("are a share of the nodes with those that are counted as going, until their actions end", () => {
    const { objects, open } = scene();
    objects.apply(policy({ cluster: "50%" }));
    for (const name of ["m", "o"]) objects.apply(nodeIn("a", name));
    expect(open("a", "n")).toEqual([]);
    objects.delete(node);
    expect(open("b", "m")).toEqual([]);
    const done = { status: { phase: "Done", finishedAt: "2026-01-01T00:00:00Z" } };
    objects.patch(action("a", { name: "n", uid: "" }, {}), done, "status");
    expect(open("c", "o")).toEqual(["I1"]);
  });

  test("do not hold a person's own delete", () => {
    const { objects, open } = scene();
    objects.apply(policy({ cluster: 0 }));
    expect(open("a", "n", { action: "Deletion" })).toEqual([]);
  });
});

describe("claims", () => {
  const change = (body: object, subresource?: "status"): Parameters<ReturnType<typeof scene>["write"]>[0] => {
    const part = subresource === undefined ? {} : { subresource };
    return { verb: "patch", group: "karpenter.sh", plural: "nodeclaims", name: "c", patchType: "merge", body, ...part };
  };
  const due = (time: string | null) =>
    change({ metadata: { annotations: { "karpenter.sh/nodeclaim-termination-timestamp": time } } });

  test("get a deadline, or an earlier one, and never a later one or none", () => {
    const { write, objects } = scene();
    expect(write(due("2026-01-01T01:00:00Z"))).toEqual([]);
    expect(write(due("2026-01-01T00:59:59Z"))).toEqual([]);
    expect(write(due("2026-01-01T01:00:00Z"))).toEqual(["T1"]);
    // One that stays has none.
    expect(write(due(null))).toEqual([]);
    expect(write(due("2026-01-01T00:59:59Z"))).toEqual([]);
    objects.delete(claim("c"));
    expect(write(due(null))).toEqual(["T1"]);
    // People may.
    objects.patch(claim("c"), { metadata: { annotations: { "karpenter.sh/nodeclaim-termination-timestamp": "x" } } });
    expect(write(due("2026-01-01T02:00:00Z"))).toEqual([]);
  });

  test("keep their finalizer as long as their instance is there", () => {
    const { write, objects, uidOf } = scene();
    const labels = { "fettle.dev/claim-uid": uidOf("nodeclaims.karpenter.sh", "c") };
    const metadata = { name: "i-1", namespace: "fettle-simulated", labels };
    const instance = { apiVersion: "v1", kind: "ConfigMap", metadata };
    objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "fettle-simulated" } });
    objects.apply(instance);
    expect(write(change({ metadata: { finalizers: null } }))).toEqual(["T2"]);
    objects.patch(claim("c"), { metadata: { finalizers: ["karpenter.sh/termination"] } });
    objects.delete(instance);
    objects.delete(claim("c"));
    expect(write(change({ metadata: { finalizers: null } }))).toEqual([]);
  });

  const stays = { tolerations: [{ key: "karpenter.sh/disrupted", operator: "Exists" }] };
  const giveUp = change({ status: ended.status }, "status");

  test.each<[string, Manifest | undefined, object, string[]]>([
    ["a pod that would move", pod("q"), {}, ["D1", "D1"]],
    ["a pod that tolerates the taint", { ...pod("q"), spec: { ...podSpec, ...stays } }, {}, ["D1"]],
    ["no time left", pod("q"), { "karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T00:01:00Z" }, []],
  ])("give up their pods with %s", async (_, other, annotations, found) => {
    const { write, objects, clock } = scene();
    if (other !== undefined) objects.apply(other);
    objects.patch(claim("c"), { metadata: { annotations } });
    objects.patch(claim("c"), { status: { conditions: [registered] } }, "status");
    await clock.runFor(60_000);
    expect(write(structuredClone(giveUp))).toEqual(found);
  });

  test("may not have seen a pod that has just come, and do not wait for one that is over", async () => {
    const { write, objects, clock, remove } = scene();
    objects.patch(claim("c"), { status: { conditions: [registered] } }, "status");
    await clock.runFor(60_000);
    remove("pods", "p");
    objects.apply(pod("late"));
    expect(write(structuredClone(giveUp))).toEqual([]);
  });
});

describe("a SafetyPolicy", () => {
  const policy = (spec: object) => ({
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    metadata: { name: "default" },
    spec,
  });
  const decidedAt = (seconds: number) => ({ decidedAt: new Date(startedAt + seconds * 1000).toISOString() });
  const freeze = (scope: string, until?: string) => ({ freeze: { reason: "r", scope, ...(until && { until }) } });

  test.each<[string, object, object, string[]]>([
    ["a freeze", freeze("Everything"), {}, ["S1"]],
    ["a freeze of disruption", freeze("Disruption"), {}, []],
    ["a freeze of disruption", freeze("Disruption"), { action: "Drift" }, ["S1"]],
    ["a freeze, a person's delete", freeze("Everything"), { action: "Deletion" }, []],
    ["a freeze that is over", freeze("Everything", "2026-01-01T00:01:45Z"), {}, []],
    ["a freeze that is not over", freeze("Everything", "2026-01-01T00:01:46Z"), {}, ["S1"]],
    ["a node never to touch", { untouchable: { matchLabels: { team: "blue" } } }, {}, ["S1"]],
    ["another node never to touch", { untouchable: { matchLabels: { team: "red" } } }, {}, []],
    ["a freeze, sent again", freeze("Everything"), decidedAt(0), []],
  ])("lets nothing start that it holds: %s", async (_, spec, more, found) => {
    const { objects, clock, open } = scene();
    objects.patch(node, { metadata: { labels: { team: "blue" } } });
    objects.apply(policy(spec));
    await clock.runFor(105_000);
    expect(open("a", "n", { ...decidedAt(105), ...more })).toEqual(found);
  });

  test("may not have been seen yet", async () => {
    const { objects, clock, open } = scene();
    objects.apply(policy(freeze("Everything")));
    await clock.runFor(104_999);
    expect(open("a", "n", decidedAt(104))).toEqual([]);
  });

  test("holds what is written down and has not started", async () => {
    const { objects, clock, open, remove } = scene();
    expect(open("a")).toEqual([]);
    objects.apply(policy(freeze("Everything")));
    await clock.runFor(105_000);
    expect(remove("nodeclaims", "c")).toEqual(["S1"]);
  });
});

describe("a repair", () => {
  const minutes = (count: number) => count * 60_000;
  const says = (status: string, type = "Ready") => ({
    status: { conditions: [{ type, status, lastTransitionTime: "2025-12-31T00:00:00Z" }] },
  });
  const repairOf = (kind: string, clock: VirtualClock, [type, status] = ["Ready", "False"]) => {
    const evidence = [
      { kind, conditionType: type, conditionStatus: status, message: "m", seenAt: "2026-01-01T00:00:00Z" },
    ];
    return { action: "Repair", evidence, decidedAt: new Date(clock.now()).toISOString() };
  };
  const here = () => {
    const all = scene();
    const status = (name: string, more: object) =>
      all.write({
        verb: "patch",
        group: "fettle.dev",
        version: "v1alpha1",
        plural: "nodeactions",
        subresource: "status",
        name,
        patchType: "merge",
        body: { status: more },
      });
    const start = (name: string, more: object, of = "n") => [
      ...all.open(name, of, more),
      ...status(name, { phase: "Running", startedAt: "2026-01-01T00:30:00Z" }),
    ];
    return { ...all, status, start };
  };
  const sick = () => {
    const all = here();
    all.objects.patch(node, says("True"), "status");
    all.objects.patch(node, says("False"), "status");
    return all;
  };

  test("begins when its node was bad for its toleration by the world's clock, whatever the node says", async () => {
    const { clock, start } = sick();
    await clock.runFor(minutes(30) - 1_001);
    expect(start("a", repairOf("Condition", clock))).toEqual(["I3"]);
    await clock.runFor(1);
    expect(start("b", repairOf("Condition", clock))).not.toContain("I3");
  });

  test("does not begin for a node that is well again, and counts anew when it is not", async () => {
    const { clock, start, objects } = sick();
    await clock.runFor(minutes(29));
    objects.patch(node, says("True"), "status");
    objects.patch(node, says("False"), "status");
    await clock.runFor(minutes(2));
    expect(start("a", repairOf("Condition", clock))).toEqual(["I3"]);
    expect(start("b", repairOf("Flapping", clock))).not.toContain("I3");
  });

  test("may begin for a node that is now not Ready and now not heard of, once that is long enough in all", async () => {
    const { clock, start, objects } = sick();
    for (let times = 0; times < 3; times++) {
      await clock.runFor(minutes(5));
      objects.patch(node, says("Unknown"), "status");
      await clock.runFor(minutes(5));
      objects.patch(node, says("False"), "status");
      if (times === 1) expect(start("a", repairOf("Flapping", clock))).toEqual(["I3"]);
    }
    expect(start("b", repairOf("Flapping", clock))).not.toContain("I3");
  });

  test("that is abandoned before it starts is no breach, however early it was opened", async () => {
    const { clock, open, status } = sick();
    await clock.runFor(minutes(1));
    expect(open("a", "n", repairOf("Condition", clock))).toEqual([]);
    expect(status("a", { phase: "Abandoned", finishedAt: "2026-01-01T00:02:00Z" })).toEqual([]);
  });

  test("takes as long as the pool says", async () => {
    const { clock, start, objects } = sick();
    objects.patch(claim("c"), { metadata: { labels: { "karpenter.sh/nodepool": "web" } } });
    const policies = [{ conditionType: "Ready", toleration: "5m" }];
    objects.apply({
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name: "web" },
      spec: { repair: { policies } },
    });
    await clock.runFor(minutes(5));
    expect(start("a", repairOf("Condition", clock))).toEqual([]);
  });

  test.each([
    [14, ["I3"]],
    [15, []],
  ])("of a node that was never Ready waits for its TTL: %i minutes", async (count, found) => {
    const { clock, start, objects } = here();
    objects.patch(node, says("False"), "status");
    await clock.runFor(minutes(count));
    expect(start("a", repairOf("NeverReady", clock))).toEqual(found);
  });

  test.each([
    ["5m", 4, ["I3"]],
    ["5m", 5, []],
    ["40m", 39, ["I3"]],
    ["40m", 40, []],
  ])("of one whose claim has a TTL of %s waits for that: %i minutes", async (readinessTTL, count, found) => {
    const { clock, start, objects } = here();
    objects.apply({ ...claim("d"), spec: { requirements: [], readinessTTL } });
    objects.apply({ ...node, metadata: { name: "m" }, spec: { providerID: "p://d" } });
    objects.patch(claim("d"), { status: { providerID: "p://d", nodeName: "m" } }, "status");
    objects.patch({ ...node, metadata: { name: "m" } }, says("False"), "status");
    await clock.runFor(minutes(count));
    expect(start("a", repairOf("NeverReady", clock), "m")).toEqual(found);
  });

  test("of a node that was Ready, unseen by a process that started since, waits for its TTL from the end of that", async () => {
    const { clock, start, process } = sick();
    await clock.runFor(minutes(15));
    expect(start("a", repairOf("NeverReady", clock))).toEqual(["I3"]);
    Object.assign(process, { startedAt: process.startedAt + 1 });
    expect(start("b", repairOf("NeverReady", clock))).not.toContain("I3");
  });
});

describe("instances", () => {
  const instance = (labels: Record<string, string>) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "i-1", namespace: "fettle-simulated", labels },
  });
  const end: Parameters<ReturnType<typeof scene>["write"]>[0] = {
    verb: "patch",
    plural: "configmaps",
    namespace: "fettle-simulated",
    name: "i-1",
    patchType: "merge",
    body: { data: { terminatingSince: "2026-01-01T00:00:00Z" } },
  };
  const made = (owner: { claim?: string }) => {
    const all = scene();
    const uid = owner.claim === undefined ? undefined : all.uidOf("nodeclaims.karpenter.sh", owner.claim);
    all.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "fettle-simulated" } });
    all.objects.apply(instance(uid === undefined ? {} : { "fettle.dev/claim-uid": uid }));
    return all;
  };

  test("of a claim that nobody deletes are not ended", () => {
    const { write, objects, open } = made({ claim: "c" });
    expect(write(structuredClone(end))).toEqual(["I5"]);
    objects.delete(claim("c"));
    objects.patch(claim("c"), ended, "status");
    expect(write(structuredClone(end))).toEqual(["I5"]);
    open("a");
    expect(write(structuredClone(end))).toEqual([]);
  });

  test("are not ended before the claim says that there is no way back", () => {
    const { write, objects, open } = made({ claim: "c" });
    objects.delete(claim("c"));
    open("a");
    expect(write(structuredClone(end))).toEqual(["D1"]);
  });

  test("without a claim are ended when they are old and no Ready node runs on them", async () => {
    const { write, clock, objects } = made({});
    expect(write(structuredClone(end))).toEqual(["G1"]);
    await clock.runFor(15 * 60_000);
    expect(write(structuredClone(end))).toEqual([]);
    objects.patch(node, ready, "status");
    expect(write(structuredClone(end))).toEqual(["G1"]);
  });
});

test("writes without end are a storm", () => {
  const { write } = scene();
  const body = () => ({ metadata: { labels: { a: "b" } } });
  const patch = () => write({ verb: "patch", plural: "nodes", name: "n", patchType: "merge", body: body() });
  for (let count = 1; count < 340; count++) expect(patch()).toEqual([]);
  expect(patch()).toEqual(["storm:"]);
});

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
  const watches = new WatchLines(clock, random, 0);
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
  objects.patch(claim("c"), { status: { providerID } }, "status");
  objects.apply(pod("p"));
  const open = (name: string, node = "n", more: object = {}) => {
    const manifest = action(name, { name: node, uid: uidOf("nodes", node) }, more);
    return write({ verb: "create", group: "fettle.dev", version: "v1alpha1", plural: "nodeactions", body: manifest });
  };
  return { clock, objects, watches, process, open, write, remove, uidOf };
}

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } };
const ready = { status: { conditions: [{ type: "Ready", status: "True" }] } };

const claim = (name: string) => ({
  apiVersion: "karpenter.sh/v1",
  kind: "NodeClaim",
  metadata: { name, finalizers: ["karpenter.sh/termination"] },
  spec: { requirements: [] },
});

function pod(name: string, annotations: Record<string, string> = {}): Manifest {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", annotations },
    spec: { nodeName: "n", terminationGracePeriodSeconds: 30, containers: [{ name: "c", image: "c" }] },
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

  test("do not hold a person's own delete", () => {
    const { objects, open } = scene();
    objects.apply(policy({ cluster: 0 }));
    expect(open("a", "n", { action: "Deletion" })).toEqual([]);
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
    expect(write(structuredClone(end))).toEqual(["I5"]);
    open("a");
    expect(write(structuredClone(end))).toEqual([]);
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

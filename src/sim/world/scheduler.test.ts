import { describe, expect, test } from "vitest";
import { LivingBox } from "../../../test/living-box.ts";
import { conditionOf } from "./conditions.ts";
import type { Pod } from "./objects.ts";
import { podRequests } from "./pod-requests.ts";
import { deploymentResource, eventResource, nodeResource, podResource } from "./resources.ts";

const container = (cpu = "100m", more: object = {}) => ({
  name: "main",
  image: "none",
  resources: { requests: { cpu, memory: "64Mi" } },
  ...more,
});
const zone = (name: string) => ({ labels: { "topology.kubernetes.io/zone": name } });

/** Nodes a and b in zone 1, c in zone 2. */
async function cluster(): Promise<LivingBox> {
  const box = new LivingBox();
  box.join("a", zone("1"));
  box.join("b", zone("1"));
  box.join("c", zone("2"));
  await box.run(10);
  return box;
}

async function place(box: LivingBox, name: string, spec: object = {}, labels: Record<string, string> = {}) {
  await box.create(podResource, { metadata: { name, labels }, spec: { containers: [container()], ...spec } });
  await box.run(2);
  const pod = await box.get<Pod>(podResource, name);
  return pod.spec.nodeName ?? conditionOf(pod, "PodScheduled")?.message;
}

describe("a pod goes", () => {
  test("where most is left", async () => {
    const box = await cluster();
    expect(await place(box, "one", { containers: [container("2")] })).toBe("a");
    expect(await place(box, "two", { containers: [container("1")] })).toBe("b");
    expect(await place(box, "three", { containers: [container("1")] })).toBe("c");
    expect(await place(box, "four", { containers: [container("500m")] })).toBe("b");
  });

  test("where its selector and its affinity say", async () => {
    const box = await cluster();
    expect(await place(box, "one", { nodeSelector: { "topology.kubernetes.io/zone": "2" } })).toBe("c");
    const term = { matchExpressions: [{ key: "kubernetes.io/hostname", operator: "NotIn", values: ["a", "c"] }] };
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } };
    expect(await place(box, "two", { affinity: { nodeAffinity } })).toBe("b");
  });

  test("not where a taint keeps it away, unless it tolerates it", async () => {
    const box = await cluster();
    for (const name of ["a", "b"]) {
      await box.patch(nodeResource, name, {
        spec: { taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] },
      });
    }
    await box.patch(nodeResource, "c", { spec: { unschedulable: true } });
    await box.run(1);
    expect(await place(box, "one")).toBe(
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint(s).",
    );
    expect(await place(box, "two", { tolerations: [{ key: "dedicated", operator: "Exists" }] })).toBe("a");
  });

  test("not where another has its port", async () => {
    const box = await cluster();
    const spec = { containers: [container("100m", { ports: [{ containerPort: 80, hostPort: 8080 }] })] };
    const places = [];
    for (const name of ["one", "two", "three", "four"]) places.push(await place(box, name, spec));
    expect(places).toEqual([
      "a",
      "b",
      "c",
      "0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.",
    ]);
  });

  test("apart from those it keeps away from, and they from it", async () => {
    const box = await cluster();
    const selector = { matchLabels: { app: "web" } };
    const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: selector };
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    const web = { app: "web" };
    expect(await place(box, "one", { affinity: { podAntiAffinity } }, web)).toBe("a");
    expect(await place(box, "two", {}, web)).toBe("c"); // it keeps away from nobody, but the first one does
    expect(await place(box, "three", { affinity: { podAntiAffinity } }, web)).toBe(
      "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.",
    );
  });

  test("beside those it belongs to, and the first of them anywhere", async () => {
    const box = await cluster();
    const term = { topologyKey: "topology.kubernetes.io/zone", labelSelector: { matchLabels: { app: "web" } } };
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    expect(await place(box, "stranger", { affinity: { podAffinity } })).toContain("didn't match pod affinity rules");
    expect(
      await place(
        box,
        "one",
        { affinity: { podAffinity }, nodeSelector: { "kubernetes.io/hostname": "c" } },
        { app: "web" },
      ),
    ).toBe("c");
    expect(await place(box, "two", { affinity: { podAffinity } }, { app: "web" })).toBe("c");
    await box.run(5);
    expect((await box.get<Pod>(podResource, "stranger")).spec.nodeName).toBe("c");
  });

  test("so that its kind is spread evenly", async () => {
    const box = await cluster();
    const constraint = {
      maxSkew: 1,
      topologyKey: "topology.kubernetes.io/zone",
      whenUnsatisfiable: "DoNotSchedule",
      labelSelector: { matchLabels: { app: "web" } },
    };
    const places = [];
    for (const name of ["one", "two", "three", "four"]) {
      places.push(await place(box, name, { topologySpreadConstraints: [constraint] }, { app: "web" }));
    }
    const zones = places.map(name => (name === "c" ? "2" : "1"));
    expect(zones.filter(one => one === "2")).toHaveLength(2);
    await box.patch(nodeResource, "c", { spec: { unschedulable: true } });
    await box.run(1);
    expect(await place(box, "five", { topologySpreadConstraints: [constraint] }, { app: "web" })).not.toBe("c");
    expect(await place(box, "six", { topologySpreadConstraints: [constraint] }, { app: "web" })).toBe(
      "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match pod topology spread constraints.",
    );
  });
});

describe("a pod that fits nowhere", () => {
  test("says why, in a condition and an event, once", async () => {
    const box = await cluster();
    const message = "0/3 nodes are available: 3 Insufficient cpu.";
    expect(await place(box, "one", { containers: [container("5")] })).toBe(message);
    await box.run(3600);
    const pod = await box.get<Pod>(podResource, "one");
    expect(conditionOf(pod, "PodScheduled")).toMatchObject({ status: "False", reason: "Unschedulable", message });
    const events = (await box.list(eventResource)).filter(({ reason }) => reason === "FailedScheduling");
    expect(events.map(event => event.message)).toEqual([message]);
  });

  test.each([
    ["a node comes", async (box: LivingBox) => box.join("d", { capacity: { cpu: "8", memory: "8Gi", pods: "110" } })],
    ["another pod goes", (box: LivingBox) => box.delete(podResource, "first")],
    ["a node is uncordoned", (box: LivingBox) => box.patch(nodeResource, "c", { spec: { unschedulable: null } })],
  ])("is bound when %s", async (_, act) => {
    const box = await cluster();
    await box.patch(nodeResource, "c", { spec: { unschedulable: true } });
    await box.run(1);
    for (const name of ["first", "second"]) await place(box, name, { containers: [container("3")] });
    expect(await place(box, "third", { containers: [container("2")] })).toContain("0/3 nodes are available");
    await act(box);
    await box.run(60);
    expect((await box.get<Pod>(podResource, "third")).spec.nodeName).toBeDefined();
  });

  test("lets those of lower priority pass that do fit", async () => {
    const box = await cluster();
    await place(box, "large", { containers: [container("5")], priority: 0 });
    expect(await place(box, "small")).toBe("a");
  });

  test("is left alone while it is gated or meant for another scheduler", async () => {
    const box = await cluster();
    expect(await place(box, "one", { schedulerName: "other" })).toBeUndefined();
    expect(await place(box, "two", { schedulingGates: [{ name: "wait" }] })).not.toBe("a");
    expect((await box.get<Pod>(podResource, "two")).spec.nodeName).toBeUndefined();
  });
});

describe("a pod that names a node", () => {
  const name = (box: LivingBox, pod: string, node: string | null) =>
    box.patch(podResource, pod, { status: { nominatedNodeName: node } }, "status");
  const large = { containers: [container("3")] };

  /** Two that fit nowhere yet, and of which one fits on a node that is cordoned. */
  async function waiting(): Promise<LivingBox> {
    const box = await cluster();
    for (const node of ["a", "b", "c"]) await box.patch(nodeResource, node, { spec: { unschedulable: true } });
    await box.run(1);
    for (const pod of ["one", "two"]) expect(await place(box, pod, large)).toContain("0/3 nodes are available");
    return box;
  }
  const open = async (box: LivingBox, node: string) => {
    await box.patch(nodeResource, node, { spec: { unschedulable: null } });
    await box.run(5);
  };
  const placeOf = async (box: LivingBox, pod: string) => (await box.get<Pod>(podResource, pod)).spec.nodeName;

  test("goes there, though another came before it and more room is elsewhere", async () => {
    const box = await waiting();
    await name(box, "two", "b");
    await open(box, "b");
    expect([await placeOf(box, "one"), await placeOf(box, "two")]).toEqual([undefined, "b"]);
    await open(box, "a");
    expect(await placeOf(box, "one")).toBe("a");
  });

  test("goes elsewhere where it does not fit there, and its room is free for others", async () => {
    const box = await waiting();
    await place(box, "first", { containers: [container("3")], nodeName: "b" });
    await name(box, "two", "b");
    await open(box, "a");
    await open(box, "c");
    expect(new Set([await placeOf(box, "one"), await placeOf(box, "two")])).toEqual(new Set(["a", "c"]));
  });

  test("has the name taken out where it can go nowhere: its room is free for others", async () => {
    const box = await waiting();
    await name(box, "two", "b");
    await open(box, "a");
    const [one, two] = [await placeOf(box, "one"), await placeOf(box, "two")];
    expect([one, two].filter(place => place !== undefined)).toEqual(["a"]);
    const left = await box.get<Pod>(podResource, one === undefined ? "one" : "two");
    expect(left.status).not.toHaveProperty("nominatedNodeName");
  });

  test("frees the room with its end", async () => {
    const box = await waiting();
    await name(box, "two", "b");
    await box.run(1);
    await box.delete(podResource, "two");
    await open(box, "b");
    expect(await placeOf(box, "one")).toBe("b");
  });
});

test("a pod that has ended frees its room, one that is only terminating does not", async () => {
  const box = await cluster();
  await place(box, "one", { containers: [container("4")], nodeSelector: { "kubernetes.io/hostname": "a" } });
  const next = () =>
    place(box, "two", { containers: [container("4")], nodeSelector: { "kubernetes.io/hostname": "a" } });
  box.world.kubelets.halt("a");
  await box.delete(podResource, "one");
  expect(await next()).toContain("Insufficient cpu");
  box.world.kubelets.resume("a");
  await box.run(10);
  expect((await box.get<Pod>(podResource, "two")).spec.nodeName).toBe("a");
});

test("two hundred pods on ten nodes are spread evenly and none is placed twice", async () => {
  const box = new LivingBox();
  for (let i = 0; i < 10; i++) box.join(`node-${i}`);
  await box.run(10);
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container("150m")] } };
  const spec = { replicas: 200, selector: { matchLabels: { app: "web" } }, template };
  await box.create(deploymentResource, { metadata: { name: "web" }, spec });
  await box.run(60);
  const countByNode = new Map<string | undefined, number>();
  for (const pod of await box.list<Pod>(podResource)) {
    countByNode.set(pod.spec.nodeName, (countByNode.get(pod.spec.nodeName) ?? 0) + 1);
  }
  expect([...countByNode.values()]).toEqual(Array.from({ length: 10 }, () => 20));
  expect(box.failures).toEqual([]);
});

describe("what a pod takes", () => {
  const asking = (cpu: string, restartPolicy?: string) => ({
    ...container(cpu),
    ...(restartPolicy && { restartPolicy }),
  });
  test.each([
    [{ containers: [asking("100m"), asking("250m")] }, 350],
    [{ containers: [asking("100m")], initContainers: [asking("1")] }, 1000],
    [{ containers: [asking("100m")], initContainers: [asking("200m", "Always"), asking("50m")] }, 300],
    [{ containers: [asking("100m")], initContainers: [asking("200m", "Always"), asking("500m")] }, 700],
    [{ containers: [asking("100m")], overhead: { cpu: "5m" } }, 105],
    [{ containers: [asking("100m")], resources: { requests: { cpu: "2" } } }, 2000],
  ])("%j is %i thousandths of a cpu", (spec, milli) => {
    expect(podRequests(spec).get("cpu")).toBe(milli);
  });
});

import { describe, expect, test } from "vitest";
import type { Manifest } from "../../api/meta.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { seededRandom } from "../random.ts";
import { ClusterObjects } from "./objects.ts";

const startedAt = Date.parse("2026-01-01T00:00:00Z");

function aCluster() {
  const clock = new VirtualClock(startedAt);
  return { clock, objects: new ClusterObjects(clusterInTheBox({ clock, random: seededRandom(1) })) };
}

function aConfigMap(name: string, labels: Record<string, string | null> = {}, namespace = "default"): Manifest {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels } } as Manifest;
}

function aPod(name: string, nodeName?: string): Manifest {
  const spec = { containers: [{ name: "main", image: "app" }], ...(nodeName && { nodeName }) };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}

const names = (found: readonly { metadata: { name: string } }[]) => found.map(({ metadata }) => metadata.name);

describe("what a scenario means by a label", () => {
  const web = { kind: "ConfigMap", selector: "app=web" };

  test("is what bears it by now: made, relabelled and deleted since the last look", () => {
    const { objects } = aCluster();
    objects.apply(aConfigMap("a", { app: "web" }));
    objects.apply(aConfigMap("b", { app: "api" }));
    expect(names(objects.find(web))).toEqual(["a"]);
    objects.apply(aConfigMap("c", { app: "web" }));
    objects.apply(aConfigMap("b", { app: "web" }));
    expect(names(objects.find(web))).toEqual(["a", "b", "c"]);
    objects.patch(aConfigMap("c"), { metadata: { labels: { app: null } } });
    objects.delete(aConfigMap("a"));
    expect(names(objects.find(web))).toEqual(["b"]);
  });

  test("comes the oldest first, and by name where they are of one age", async () => {
    const { clock, objects } = aCluster();
    expect(objects.find(web)).toEqual([]);
    for (const name of ["z", "y"]) objects.apply(aConfigMap(name, { app: "web" }));
    await clock.runFor(1_000);
    objects.apply(aConfigMap("a", { app: "web" }));
    expect(names(objects.find(web))).toEqual(["y", "z", "a"]);
    expect(names(objects.find({ ...web, count: 2 }))).toEqual(["y", "z"]);
  });

  test("is of one namespace, and all the rest of the selector holds too", () => {
    const { objects } = aCluster();
    objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
    objects.apply(aConfigMap("a", { app: "web", tier: "front" }));
    objects.apply(aConfigMap("b", { app: "web" }));
    objects.apply(aConfigMap("c", { app: "web", tier: "front" }, "other"));
    expect(names(objects.find({ ...web, selector: "app=web,tier in (front, back)" }))).toEqual(["a"]);
    expect(names(objects.find({ ...web, namespace: "other" }))).toEqual(["c"]);
  });
});

test("pods are found on the node to which they were bound since", () => {
  const { objects } = aCluster();
  objects.apply(aPod("a", "one"));
  objects.apply(aPod("b"));
  expect(names(objects.podsOn("one"))).toEqual(["a"]);
  const target = { apiVersion: "v1", kind: "Node", name: "one" };
  const body = { apiVersion: "v1", kind: "Binding", metadata: { name: "b" }, target };
  objects.request(aPod("b"), { verb: "create", name: "b", subresource: "binding", body });
  expect(names(objects.podsOn("one"))).toEqual(["a", "b"]);
  expect(names(objects.podsOn("two"))).toEqual([]);
});

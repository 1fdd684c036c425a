import { describe, expect, test } from "vitest";
import { JudgedRooms } from "./judged-rooms.ts";
import { type Room, Rooms } from "./node-room.ts";
import type { Node, Pod } from "./objects.ts";
import { RefusedPods } from "./refused-pods.ts";

const ofSet = (name: string) => [{ apiVersion: "apps/v1", kind: "ReplicaSet", name, uid: name, controller: true }];

function aPod(name: string, { cpu = "1", set = "web", ...spec }: { cpu?: string; set?: string } & object = {}): Pod {
  const containers = [{ name: "main", resources: { requests: { cpu } } }];
  const metadata = { name, namespace: "default", uid: name, labels: { app: set }, ownerReferences: ofSet(set) };
  return { metadata, spec: { containers, ...spec }, status: {} } as unknown as Pod;
}

const rooms = new Rooms();

function aRoom(cpu: string, taints: readonly object[] = []): Room {
  const node = { metadata: { name: "a" }, spec: { taints }, status: { allocatable: { cpu, pods: "10" } } };
  rooms.nodeChanged(node as unknown as Node);
  return rooms.roomByNode.get("a") as Room;
}

function refused(...pods: readonly Pod[]): RefusedPods {
  const all = new RefusedPods(new JudgedRooms(rooms));
  for (const pod of pods) all.add(pod);
  return all;
}

const tainted = [{ key: "not-ready", effect: "NoSchedule" }];
const affinity = { podAffinity: {} };

describe("a node that changed may help", () => {
  test("when one of those that wait would fit on it", () => {
    const pods = refused(aPod("large", { cpu: "8", set: "db" }), aPod("small", { cpu: "2" }));
    expect(pods.mayHelp(aRoom("1"))).toBe(false);
    expect(pods.mayHelp(aRoom("2"))).toBe(true);
  });

  test("not while a taint keeps all of them away", () => {
    expect(refused(aPod("one")).mayHelp(aRoom("4", tainted))).toBe(false);
  });

  test("nobody who has been placed or is gone", () => {
    const pods = refused(aPod("one"), aPod("two"));
    pods.forget("default/one");
    expect(pods.mayHelp(aRoom("4"))).toBe(true);
    pods.forget("default/two");
    expect(pods.mayHelp(aRoom("4"))).toBe(false);
    expect(pods.size).toBe(0);
  });

  test("whatever it is, one that looks at where other pods are", () => {
    const pods = refused(aPod("one", { affinity } as object));
    expect(pods.mayHelp(aRoom("0", tainted))).toBe(true);
    pods.forget("default/one");
    expect(pods.areSomePeculiar).toBe(false);
  });
});

test("all are tried again in the order in which they were refused last", () => {
  const pods = refused(aPod("one"), aPod("two", { set: "db" }), aPod("three"));
  pods.add(aPod("one"));
  expect(pods.takeAll()).toEqual(["default/two", "default/three", "default/one"]);
  expect([pods.size, pods.mayHelp(aRoom("4"))]).toEqual([0, false]);
});

test("a pod is told again why it waits after 1, 2, 4, 8 and then every 10 s, and anew once it has been placed", () => {
  const pods = new RefusedPods(new JudgedRooms(rooms));
  const waits: number[] = [];
  expect(pods.tellAt("default/one")).toBe(Number.NEGATIVE_INFINITY);
  let now = 0;
  for (let round = 0; round < 6; round++) {
    pods.told("default/one", now);
    const next = pods.tellAt("default/one");
    waits.push(next - now);
    now = next;
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
  pods.forget("default/one");
  expect(pods.tellAt("default/one")).toBe(Number.NEGATIVE_INFINITY);
});

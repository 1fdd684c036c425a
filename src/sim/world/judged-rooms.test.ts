import { describe, expect, test } from "vitest";
import { JudgedRooms } from "./judged-rooms.ts";
import { placed, Room } from "./node-room.ts";
import type { Node, Pod } from "./objects.ts";

const nodeSelector = { disk: "fast" };

function aPod(name: string, { cpu = "1", ...spec }: { cpu?: string; nodeSelector?: object } = {}): Pod {
  const containers = [{ name: "main", resources: { requests: { cpu } } }];
  return { metadata: { name, namespace: "default" }, spec: { containers, ...spec }, status: {} } as unknown as Pod;
}

function aNode(cpu: string, taints: readonly object[] = []): Node {
  return { metadata: { name: "a" }, spec: { taints }, status: { allocatable: { cpu, pods: "10" } } } as unknown as Node;
}

function judging(judged: JudgedRooms, pod: Pod, room: Room) {
  const { misfits, score } = judged.for(placed(pod))(room);
  return misfits[0] ?? score;
}

describe("what a node was judged for one pod stands for the next like it", () => {
  test("until one of them is bound to it, or goes", () => {
    const judged = new JudgedRooms();
    const room = new Room(aNode("2"));
    expect(judging(judged, aPod("one"), room)).toBe(25);
    room.add(placed(aPod("one")));
    expect(judging(judged, aPod("two"), room)).toBe(0);
    room.add(placed(aPod("two")));
    expect(judging(judged, aPod("three"), room)).toBe("Insufficient cpu");
    room.remove("default/one");
    expect(judging(judged, aPod("three"), room)).toBe(0);
  });

  test("until the node itself changes", () => {
    const judged = new JudgedRooms();
    const room = new Room(aNode("2"));
    expect(judging(judged, aPod("one"), room)).toBe(25);
    room.set(aNode("2", [{ key: "not-ready", effect: "NoSchedule" }]));
    expect(judging(judged, aPod("two"), room)).toBe("node(s) had untolerated taint(s)");
  });

  test("not for one that asks for something else", () => {
    const judged = new JudgedRooms();
    const room = new Room(aNode("2"));
    expect(judging(judged, aPod("one"), room)).toBe(25);
    expect(judging(judged, aPod("large", { cpu: "4" }), room)).toBe("Insufficient cpu");
    expect(judging(judged, aPod("picky", { nodeSelector }), room)).toBe(
      "node(s) didn't match Pod's node affinity/selector",
    );
  });

  test("also where two kinds take turns", () => {
    const judged = new JudgedRooms();
    const room = new Room(aNode("4"));
    const [small, large] = [aPod("small"), aPod("large", { cpu: "4" })];
    for (let i = 0; i < 2; i++) {
      expect(judging(judged, small, room)).toBe(37);
      expect(judging(judged, large, room)).toBe(0);
    }
    room.add(placed(aPod("one")));
    expect(judging(judged, small, room)).toBe(25);
    expect(judging(judged, large, room)).toBe("Insufficient cpu");
  });

  test("however many kinds there are", () => {
    const judged = new JudgedRooms();
    const room = new Room(aNode("64"));
    for (let i = 1; i <= 100; i++) {
      const expected = i > 64 ? "Insufficient cpu" : expect.any(Number);
      expect(judging(judged, aPod("one", { cpu: String(i) }), room)).toEqual(expected);
    }
  });
});

test("of a node that is gone nothing is kept", () => {
  const judged = new JudgedRooms();
  const [gone, stays] = [new Room(aNode("2")), new Room(aNode("2"))];
  const judge = judged.for(placed(aPod("one")));
  const before = [judge(gone), judge(stays)];
  judged.forget(gone);
  const after = [judge(gone), judge(stays)];
  expect(after).toEqual(before);
  expect(after.map((one, i) => one === before[i])).toEqual([false, true]);
});

test("what a pod asks for is added up anew where more than its place has changed", () => {
  const pod = aPod("one");
  expect(placed(pod).requests.get("cpu")).toBe(1000);
  expect(placed({ ...pod, spec: { ...pod.spec, nodeName: "a" } }).requests).toBe(placed(pod).requests);
  const heavier = { ...pod, spec: { ...pod.spec, overhead: { cpu: "1" } } };
  expect(placed(heavier).requests.get("cpu")).toBe(2000);
});

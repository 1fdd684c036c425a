import { describe, expect, test } from "vitest";
import { JudgedRooms } from "./judged-rooms.ts";
import { placed, Rooms } from "./node-room.ts";
import type { Node, Pod } from "./objects.ts";

const nodeSelector = { disk: "fast" };

function aPod(name: string, { cpu = "1", ...spec }: { cpu?: string; nodeSelector?: object } = {}): Pod {
  const containers = [{ name: "main", resources: { requests: { cpu } } }];
  return { metadata: { name, namespace: "default" }, spec: { containers, ...spec }, status: {} } as unknown as Pod;
}

function aNode(cpu: string, { name = "a", taints = [] }: { name?: string; taints?: readonly object[] } = {}): Node {
  return { metadata: { name }, spec: { taints }, status: { allocatable: { cpu, pods: "10" } } } as unknown as Node;
}

function runsOn(nodeName: string, pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

function someRooms(...nodes: readonly Node[]) {
  const rooms = new Rooms();
  for (const node of nodes) rooms.nodeChanged(node);
  return { rooms, judged: new JudgedRooms(rooms) };
}

function judging(judged: JudgedRooms, pod: Pod, place = 0) {
  const found = judged.for(placed(pod));
  return found.misfitsAt(place)[0] ?? found.scoreAt(place);
}

describe("what a node was judged for one pod stands for the next like it", () => {
  test("until one of them is bound to it, or goes", () => {
    const { rooms, judged } = someRooms(aNode("2"));
    expect(judging(judged, aPod("one"))).toBe(25);
    rooms.podChanged(runsOn("a", aPod("one")), false);
    expect(judging(judged, aPod("two"))).toBe(0);
    rooms.podChanged(runsOn("a", aPod("two")), false);
    expect(judging(judged, aPod("three"))).toBe("Insufficient cpu");
    rooms.podChanged(runsOn("a", aPod("one")), true);
    expect(judging(judged, aPod("three"))).toBe(0);
  });

  test("until the node itself changes", () => {
    const { rooms, judged } = someRooms(aNode("2"));
    expect(judging(judged, aPod("one"))).toBe(25);
    rooms.nodeChanged(aNode("2", { taints: [{ key: "not-ready", effect: "NoSchedule" }] }));
    expect(judging(judged, aPod("two"))).toBe("node(s) had untolerated taint(s)");
  });

  test("wherever it stands when others come and go", () => {
    const { rooms, judged } = someRooms(aNode("2"), aNode("1", { name: "b" }), aNode("4", { name: "c" }));
    const all = () => rooms.list.map(({ node, place }) => [node.metadata.name, judging(judged, aPod("one"), place)]);
    expect(all()).toEqual([
      ["a", 25],
      ["b", 0],
      ["c", 37],
    ]);
    rooms.nodeGone("a");
    rooms.nodeChanged(aNode("8", { name: "d" }));
    expect(all()).toEqual([
      ["b", 0],
      ["c", 37],
      ["d", 43],
    ]);
    rooms.podChanged(runsOn("c", aPod("one")), false);
    expect(all()).toEqual([
      ["b", 0],
      ["c", 25],
      ["d", 43],
    ]);
  });

  test("with what is bound to a node before it is known", () => {
    const { rooms, judged } = someRooms();
    rooms.podChanged(runsOn("a", aPod("one")), false);
    rooms.nodeChanged(aNode("2"));
    expect(judging(judged, aPod("two"))).toBe(0);
  });

  test("not for one that asks for something else", () => {
    const { judged } = someRooms(aNode("2"));
    expect(judging(judged, aPod("one"))).toBe(25);
    expect(judging(judged, aPod("large", { cpu: "4" }))).toBe("Insufficient cpu");
    expect(judging(judged, aPod("picky", { nodeSelector }))).toBe("node(s) didn't match Pod's node affinity/selector");
  });

  test("also where two kinds take turns", () => {
    const { rooms, judged } = someRooms(aNode("4"));
    const [small, large] = [aPod("small"), aPod("large", { cpu: "4" })];
    for (let i = 0; i < 2; i++) {
      expect(judging(judged, small)).toBe(37);
      expect(judging(judged, large)).toBe(0);
    }
    rooms.podChanged(runsOn("a", aPod("one")), false);
    expect(judging(judged, small)).toBe(25);
    expect(judging(judged, large)).toBe("Insufficient cpu");
  });

  test("however many kinds there are", () => {
    const { rooms, judged } = someRooms(aNode("64"));
    for (let i = 1; i <= 300; i++) {
      const expected = i > 64 ? "Insufficient cpu" : expect.any(Number);
      expect(judging(judged, aPod("one", { cpu: String(i) }))).toEqual(expected);
    }
    expect(rooms.watchers.size).toBeLessThan(200);
  });
});

test("what a pod asks for is added up anew where more than its place has changed", () => {
  const pod = aPod("one");
  expect(placed(pod).requests.get("cpu")).toBe(1000);
  expect(placed({ ...pod, spec: { ...pod.spec, nodeName: "a" } }).requests).toBe(placed(pod).requests);
  const heavier = { ...pod, spec: { ...pod.spec, overhead: { cpu: "1" } } };
  expect(placed(heavier).requests.get("cpu")).toBe(2000);
});

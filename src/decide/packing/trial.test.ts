import { expect, test } from "vitest";
import { zoneKey } from "../../api/node.ts";
import { pictureOf } from "./build.ts";
import { atOnce } from "./effort.ts";
import { emptyProblem } from "./problem.ts";
import { aNode, aPod, aPool, zoneOf } from "./test-worlds.ts";
import { Trial } from "./trial.ts";

test("what is counted first while nodes are away is afterwards as if it had been counted before", () => {
  const labels = { app: "web" };
  const spread = {
    maxSkew: 1,
    topologyKey: zoneKey,
    whenUnsatisfiable: "DoNotSchedule" as const,
    labelSelector: { matchLabels: labels },
  };
  const bound = ["a", "a", "b"].map((node, index) =>
    aPod(`web-${index}`, { node, labels, topologySpreadConstraints: [spread] }),
  );
  const nodes = ["a", "b", "c"].map(name => aNode(name, { labels: zoneOf(name) }));
  const picture = pictureOf({ ...emptyProblem, nodes, bound, pools: [aPool("p")] });
  const trial = new Trial({ picture, gone: new Set(), effort: { work: 0 } });
  atOnce(trial.takeAway([picture.hosts.indexByName.get("a") ?? -1]));
  expect(atOnce(trial.anywhere()).unplaced).toEqual([]);
  trial.undo();
  const counted = [...picture.census.counts()].map(({ counter }) =>
    ["a", "b", "c"].map(zone => counter.count(picture.texts.id(zone))),
  );
  expect(counted).toEqual([[2, 1, 0]]);
});

test("of pods that are alike in one resource the one that asks for more of another is placed first", () => {
  const bound = [
    aPod("small", { node: "a", requests: { cpu: "500m", memory: "1Gi" } }),
    aPod("large", { node: "a", requests: { cpu: "500m", memory: "2Gi" } }),
    aPod("largest", { node: "a", requests: { cpu: "2", memory: "4Gi" } }),
  ];
  const allocatable = (memory: string) => ({ cpu: "500m", memory });
  const nodes = [
    aNode("a"),
    aNode("d", { allocatable: { cpu: "2", memory: "4Gi" } }),
    aNode("b", { allocatable: allocatable("2Gi") }),
    aNode("c", { allocatable: allocatable("1Gi") }),
  ];
  for (const order of [bound, bound.toReversed()]) {
    const picture = pictureOf({ ...emptyProblem, nodes, bound: order });
    const trial = new Trial({ picture, gone: new Set(), effort: { work: 0 } });
    atOnce(trial.takeAway([picture.hosts.indexByName.get("a") ?? -1]));
    expect(atOnce(trial.ontoHosts(() => false))).toEqual([]);
  }
});

import { expect, test } from "vitest";
import { aPod, aWorld } from "../../../test/builders.ts";
import type { PodView } from "../../snapshot/views.ts";
import { disturbanceOf } from "./disturbance.ts";

test.each<[string, readonly Partial<PodView>[], number]>([
  ["nobody", [], 1],
  ["pods as most are", [{}, {}], 3],
  ["a pod of high priority", [{ evictionCost: 10 }], 11],
  ["a pod that would be missed less", [{ evictionCost: 0.5 }], 1.5],
  ["a pod that had better go, which makes no other cheaper", [{ evictionCost: -10 }, {}], 2],
  ["pods that belong to the node", [{ tier: "daemon" }, { isStatic: true }], 1],
  ["a pod that has ended", [{ phase: "Succeeded" }], 1],
])("a node that goes disturbs itself and %s", (_, more, disturbance) => {
  const pods = more.map((one, index) => aPod(`p-${index}`, { ...one, nodeName: "n" }));
  expect(disturbanceOf("n", aWorld({ pods }))).toBe(disturbance);
});

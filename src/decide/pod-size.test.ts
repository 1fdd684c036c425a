import { expect, test } from "vitest";
import type { PodNeeds } from "../snapshot/pod-needs.ts";
import { podSize } from "./pod-size.ts";

const asking = (requests: Record<string, string>): PodNeeds => ({
  spec: { containers: [{ name: "main", resources: { requests } }] },
});

test.each<[string, PodNeeds | undefined, number]>([
  ["that asks for nothing", undefined, 0],
  ["by its CPUs", asking({ cpu: "1500m" }), 1.5],
  ["by its memory, 4 GiB like a CPU", asking({ memory: "6Gi" }), 1.5],
  ["by both", asking({ cpu: "2", memory: "4Gi" }), 3],
])("a pod %s", (_what, needs, size) => {
  expect(podSize({ name: "p", ...(needs ? { needs } : {}) })).toBe(size);
  // The second time it is known.
  expect(podSize({ name: "p", ...(needs ? { needs } : {}) })).toBe(size);
});

import { expect, test } from "vitest";
import type { PodSpec } from "../../api/pod.ts";
import { cpu, memory, podAmounts, pods, ResourceSpace } from "./resources.ts";
import { aPod } from "./test-worlds.ts";

const asking = (name: string, cpuText: string, more: object = {}) => ({
  name,
  resources: { requests: { cpu: cpuText } },
  ...more,
});

const cases: [string, Partial<PodSpec>, number][] = [
  ["containers add up", { containers: [asking("a", "200m"), asking("b", "1")] }, 1200],
  [
    "a larger init container counts alone",
    { containers: [asking("a", "1")], initContainers: [asking("i", "3")] },
    3000,
  ],
  [
    "a smaller init container counts for nothing",
    { containers: [asking("a", "1")], initContainers: [asking("i", "500m")] },
    1000,
  ],
  [
    "a sidecar counts with the containers",
    { containers: [asking("a", "1")], initContainers: [asking("s", "500m", { restartPolicy: "Always" })] },
    1500,
  ],
  [
    "an init container counts with the sidecars started before it",
    {
      containers: [asking("a", "1")],
      initContainers: [asking("s", "500m", { restartPolicy: "Always" }), asking("i", "2")],
    },
    2500,
  ],
  [
    "an init container does not count with the sidecars started after it",
    {
      containers: [asking("a", "1")],
      initContainers: [asking("i", "2"), asking("s", "500m", { restartPolicy: "Always" })],
    },
    2000,
  ],
  ["overhead comes on top", { containers: [asking("a", "1")], overhead: { cpu: "250m" } }, 1250],
  [
    "requests of the pod as a whole stand for those of its containers, overhead on top",
    { containers: [asking("a", "1")], resources: { requests: { cpu: "3" } }, overhead: { cpu: "1" } },
    4000,
  ],
  ["fractions of a thousandth are rounded up", { containers: [asking("a", "1u")] }, 1],
];

test.each(cases)("%s", (_, spec, expected) => {
  expect(podAmounts(aPod("p", spec), new ResourceSpace())[cpu]).toBe(expected);
});

test("every pod takes one place, whatever it asks for", () => {
  expect(podAmounts(aPod("p", { requests: {} }), new ResourceSpace())[pods]).toBe(1);
});

test("memory is counted in bytes", () => {
  expect(podAmounts(aPod("p", { requests: { memory: "1.5Gi" } }), new ResourceSpace())[memory]).toBe(1.5 * 2 ** 30);
});

test("extended resources are counted, those of the pod as a whole only for cpu, memory and huge pages", () => {
  const space = new ResourceSpace();
  const pod = aPod("p", {
    requests: { "example.com/gpu": "2" },
    resources: { requests: { "example.com/gpu": "9", "hugepages-2Mi": "4Mi" } },
  });
  const amounts = podAmounts(pod, space);
  expect(amounts[space.index("example.com/gpu")]).toBe(2);
  expect(amounts[space.index("hugepages-2Mi")]).toBe(4 * 2 ** 20);
});

test("while a container is resized the larger of what it asks for and what it has counts", () => {
  const pod = aPod("p", { requests: { cpu: "1" } });
  const status = { containerStatuses: [{ name: "main", resources: { requests: { cpu: "2" } } }] };
  expect(podAmounts({ ...pod, status }, new ResourceSpace())[cpu]).toBe(2000);
});

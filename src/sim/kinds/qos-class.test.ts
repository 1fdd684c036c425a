import { expect, test } from "vitest";
import type { Container, PodSpec, Resources } from "./pod-types.ts";
import { qosClass } from "./qos-class.ts";

const container = (resources: Resources): Container => ({ name: "c", resources });
const spec = (...resources: Resources[]): PodSpec => ({ containers: resources.map(container) });
const both = { cpu: "1", memory: "1Gi" };

test.each([
  ["nothing at all", spec({}), "BestEffort"],
  ["amounts of zero", spec({ requests: { cpu: "0" }, limits: { memory: "0" } }), "BestEffort"],
  ["other resources only", spec({ limits: { "nvidia.com/gpu": "1" } }), "BestEffort"],
  ["a request", spec({ requests: { cpu: "1" } }), "Burstable"],
  ["a limit of one resource", spec({ requests: { cpu: "1" }, limits: { cpu: "1" } }), "Burstable"],
  ["limits equal to requests", spec({ requests: both, limits: both }), "Guaranteed"],
  ["limits equal in another form", spec({ requests: { cpu: "1000m", memory: "1024Mi" }, limits: both }), "Guaranteed"],
  ["requests below limits", spec({ requests: { ...both, cpu: "500m" }, limits: both }), "Burstable"],
  ["one container without", spec({ requests: both, limits: both }, {}), "Burstable"],
  [
    "an init container without",
    { ...spec({ requests: both, limits: both }), initContainers: [container({})] },
    "Burstable",
  ],
  ["the pod's own resources", { ...spec({}), resources: { requests: both, limits: both } }, "Guaranteed"],
  ["the pod's own requests", { ...spec({}), resources: { requests: both } }, "Burstable"],
])("%s", (_, podSpec, expected) => {
  expect(qosClass(podSpec)).toBe(expected);
});

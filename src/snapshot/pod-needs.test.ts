import { expect, test } from "vitest";
import { projectPod } from "./project-pod.ts";
import { Interning } from "./interning.ts";
import { podNeeds } from "./pod-needs.ts";

const requests = { cpu: "1" };

test("of a pod's spec only what a node must have is kept", () => {
  const spec = {
    containers: [
      {
        name: "c",
        image: "i",
        env: [{ name: "X" }],
        resources: { requests, limits: { cpu: "2" } },
        ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }],
      },
    ],
    initContainers: [{ name: "s", restartPolicy: "Always", resources: {} }],
    nodeSelector: { a: "b" },
    tolerations: [{ operator: "Exists" }],
    overhead: { cpu: "10m" },
    serviceAccountName: "x",
    nodeName: "n",
    volumes: [{ name: "v" }],
    resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "one-gpu" }],
  };
  expect(podNeeds(spec, {})).toEqual({
    spec: {
      containers: [{ name: "c", resources: { requests }, ports: [{ containerPort: 81, hostPort: 81 }] }],
      initContainers: [{ name: "s", restartPolicy: "Always" }],
      nodeSelector: { a: "b" },
      tolerations: [{ operator: "Exists" }],
      overhead: { cpu: "10m" },
      resourceClaims: [{ name: "gpu" }],
    },
  });
});

test.each<[string, object, boolean]>([
  ["what it asks for", { allocatedResources: requests, resources: { requests } }, false],
  ["more", { allocatedResources: { cpu: "2" }, resources: { requests } }, true],
  ["nothing that is known", {}, false],
])("a container that has %s is kept with it only while the two differ", (_, status, isKept) => {
  const needs = podNeeds(
    { containers: [{ name: "c", resources: { requests } }] },
    { containerStatuses: [{ name: "c", ...status }] },
  );
  expect(needs.allocated !== undefined).toBe(isKept);
});

test("pods that ask for the same share one copy, and one that cannot be scheduled says so", () => {
  const interning = new Interning();
  const raw = (name: string, condition: object) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "n", uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { containers: [{ name: "c", resources: { requests } }] },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", ...condition }] },
  });
  const a = projectPod(raw("a", { reason: "Unschedulable" }), undefined, interning);
  const b = projectPod(raw("b", { reason: "SchedulingGated" }), undefined, interning);
  expect(a.needs).toBe(b.needs);
  expect([a.isUnschedulable, b.isUnschedulable]).toEqual([true, undefined]);
});

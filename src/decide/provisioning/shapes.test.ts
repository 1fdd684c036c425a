import { describe, expect, test } from "vitest";
import { aClaim, aNode, aPod, t0 } from "../../../test/builders.ts";
import { initializedKey, registeredKey, unregisteredTaint } from "../../api/well-known.ts";
import { hostShape, podShape } from "./shapes.ts";

describe("a pod", () => {
  test("that is to be placed has no node, and keeps its needs, its claims and its place in the order", () => {
    const needs = { spec: { containers: [], nodeSelector: { a: "b" } } };
    expect(podShape(aPod("x", { on: "n", needs, volumeClaims: ["data"] }))).toEqual({
      metadata: {
        name: "x",
        namespace: "default",
        uid: "default-x-uid",
        labels: { app: "x" },
        creationTimestamp: "2026-01-01T00:00:00Z",
      },
      spec: {
        containers: [],
        nodeSelector: { a: "b" },
        volumes: [{ name: "data", persistentVolumeClaim: { claimName: "data" } }],
      },
      status: {},
    });
  });

  test("on a node is told apart when it stops, belongs to a DaemonSet, or is being resized", () => {
    const allocated = [{ name: "c", allocatedResources: { cpu: "2" } }];
    const pod = aPod("x", { deletionAt: t0, ownerKind: "DaemonSet", needs: { spec: { containers: [] }, allocated } });
    expect(podShape(pod, "n")).toMatchObject({
      metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", ownerReferences: [{ kind: "DaemonSet" }] },
      spec: { nodeName: "n" },
      status: { phase: "Running", containerStatuses: allocated },
    });
  });
});

describe("a node", () => {
  const startup = { key: "starting", effect: "NoSchedule" as const };
  const own = { key: "team", effect: "NoSchedule" as const };

  test("of nobody's claim is as it is", () => {
    const node = aNode("n", { labels: { [initializedKey]: "" }, taints: [own], isCordoned: true });
    expect(hostShape(node, undefined)).toMatchObject({
      initialized: true,
      node: { spec: { unschedulable: true, taints: [own] }, status: { allocatable: { cpu: "4" } } },
    });
  });

  test("that is not initialized loses the taints of its start, and has at least what its claim says", () => {
    const taints = [startup, own, { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" as const }];
    const node = aNode("n", { labels: { [initializedKey]: "" }, taints, allocatable: { cpu: "3" } });
    const claim = aClaim("n", {
      spec: { startupTaints: [startup] },
      status: { allocatable: { cpu: "4", "x/gpu": 1 } },
    });
    const shape = hostShape(node, claim);
    expect(shape).toMatchObject({ initialized: false, node: { status: { allocatable: { cpu: "3", "x/gpu": "1" } } } });
    expect(shape.passingTaints?.map(({ key }) => key)).toEqual(["starting", "node.kubernetes.io/not-ready"]);
    expect(hostShape(aNode("n", { taints }), claim).passingTaints).toBeUndefined();
  });

  test("has no more room than its claim says; what the claim does not know it is believed", () => {
    const claim = aClaim("n", {
      status: { capacity: { cpu: "4", memory: "16Gi", "x/gpu": 2 }, allocatable: { cpu: "3900m", memory: "15Gi" } },
    });
    const roomOf = (allocatable: Record<string, string>, of?: typeof claim) =>
      hostShape(aNode("n", { allocatable }), of).node.status?.allocatable;
    const boast = { cpu: "1000", memory: "1Ti", "x/gpu": "8", "y/card": "4" };
    expect(roomOf(boast, claim)).toEqual({ cpu: "3900m", memory: "15Gi", "x/gpu": "2", "y/card": "4" });
    expect(roomOf({ cpu: "3900m", memory: "14Gi" }, claim)).toEqual({ cpu: "3900m", memory: "14Gi" });
    expect(roomOf(boast)).toEqual(boast);
    expect(roomOf({ cpu: "much" }, claim)).toEqual({ cpu: "much" });
  });

  test("that is not registered will have the labels and taints of its claim", () => {
    const node = aNode("n", { labels: { [registeredKey]: "", [initializedKey]: "" }, taints: [unregisteredTaint] });
    const { node: shape, passingTaints } = hostShape(node, aClaim("n", { pool: "p", spec: { taints: [own] } }));
    expect(shape.metadata.labels).toMatchObject({ "karpenter.sh/nodepool": "p" });
    expect(shape.spec?.taints).toEqual([unregisteredTaint, own]);
    expect(passingTaints).toEqual([unregisteredTaint]);
  });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { projectNode } from "./project-node.ts";
import { unreadableTime } from "./raw.ts";

type Raw = { metadata?: object; spec?: unknown; status?: unknown };

const beat = "2026-01-01T00:05:00Z";
const ready = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "posting",
  lastHeartbeatTime: beat,
  lastTransitionTime: "2026-01-01T00:01:00Z",
};

function node({
  metadata = {},
  spec = { providerID: "p://a" },
  status = { conditions: [ready] },
}: Raw = {}): KubeObject {
  const identity = { name: "a", uid: "a-uid", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { apiVersion: "v1", kind: "Node", metadata: { ...identity, ...metadata }, spec, status };
}

test("a node is kept with what rules read, times as instants, heartbeats left out", () => {
  const owner = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "a", uid: "u" };
  const view = projectNode(
    node({
      metadata: {
        labels: { zone: "z" },
        annotations: { note: "n" },
        finalizers: ["f"],
        deletionTimestamp: "2026-01-01T01:00:00Z",
        ownerReferences: [owner],
      },
      spec: { providerID: "p://a", unschedulable: true, taints: [{ key: "k", effect: "NoSchedule" }] },
      status: {
        conditions: [ready],
        capacity: { cpu: "4" },
        allocatable: { cpu: "3900m" },
        images: [{ names: ["i"] }],
      },
    }),
    undefined,
  );
  expect(view).toEqual({
    name: "a",
    uid: "a-uid",
    resourceVersion: "1",
    createdAt: Date.parse("2026-01-01T00:00:00Z"),
    deletingSince: Date.parse("2026-01-01T01:00:00Z"),
    labels: { zone: "z" },
    annotations: { note: "n" },
    finalizers: ["f"],
    providerID: "p://a",
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "posting",
        since: Date.parse("2026-01-01T00:01:00Z"),
      },
    ],
    taints: [{ key: "k", effect: "NoSchedule" }],
    isCordoned: true,
    capacity: { cpu: "4" },
    allocatable: { cpu: "3900m" },
    owners: [owner],
  });
});

describe("the same view, of the version of its last visible change", () => {
  const previous = projectNode(node(), undefined);
  test.each<[string, Raw]>([
    ["a heartbeat", { status: { conditions: [{ ...ready, lastHeartbeatTime: "2026-01-01T00:10:00Z" }] } }],
    ["images", { status: { conditions: [ready], images: [{ names: ["new"] }] } }],
    ["managed fields", { metadata: { managedFields: [{ manager: "kubelet" }] } }],
    ["node info", { status: { conditions: [ready], nodeInfo: { kernelVersion: "6" } } }],
  ])("%s", (_, raw) => {
    const next = projectNode(node({ ...raw, metadata: { ...raw.metadata, resourceVersion: "2" } }), previous);
    expect(next).toBe(previous);
  });
});

describe("another view", () => {
  const previous = projectNode(node(), undefined);
  test.each<[string, Raw]>([
    ["a status", { status: { conditions: [{ ...ready, status: "False" }] } }],
    ["a transition", { status: { conditions: [{ ...ready, lastTransitionTime: beat }] } }],
    ["a reason", { status: { conditions: [{ ...ready, reason: "Other" }] } }],
    ["a label", { metadata: { labels: { a: "b" } } }],
    ["an annotation", { metadata: { annotations: { a: "b" } } }],
    ["a taint", { spec: { providerID: "p://a", taints: [{ key: "k", effect: "NoExecute" }] } }],
    ["a cordon", { spec: { providerID: "p://a", unschedulable: true } }],
    ["a boot", { status: { conditions: [ready], nodeInfo: { bootID: "b" } } }],
    ["a deletion", { metadata: { deletionTimestamp: beat } }],
    ["a finalizer", { metadata: { finalizers: ["f"] } }],
    ["another node of the name", { metadata: { uid: "b-uid" } }],
    ["allocatable", { status: { conditions: [ready], allocatable: { cpu: "1" } } }],
  ])("%s", (_, raw) => {
    const next = projectNode(node({ ...raw, metadata: { ...raw.metadata, resourceVersion: "2" } }), previous);
    expect(next).not.toBe(previous);
    expect(next.resourceVersion).toBe("2");
  });
});

describe("what a node says of itself and cannot be read", () => {
  const conditions = (list: unknown) => projectNode(node({ status: { conditions: list } }), undefined).conditions;

  test.each<[string, unknown, unknown]>([
    ["no list at all", "Ready", []],
    ["an entry that is none", [null, 7, ready].slice(0, 2), []],
    ["no type", [{ ...ready, type: undefined }], []],
    ["a status of another type is no status", [{ ...ready, status: true }], []],
    [
      "a time that is none is absent",
      [{ type: "Ready", status: "False", lastTransitionTime: "yesterday" }],
      [{ type: "Ready", status: "False", reason: "", message: "" }],
    ],
  ])("conditions: %s", (_, list, expected) => expect(conditions(list)).toEqual(expected));

  test("an age that cannot be read is never old enough for anything", () => {
    expect(projectNode(node({ metadata: { creationTimestamp: "long ago" } }), undefined).createdAt).toBe(
      unreadableTime,
    );
  });

  test("a deletion at a time that cannot be read is a deletion", () => {
    expect(projectNode(node({ metadata: { deletionTimestamp: 5 } }), undefined).deletingSince).toBe(unreadableTime);
  });

  test("an empty providerID is none", () => {
    expect(projectNode(node({ spec: { providerID: "" } }), undefined)).not.toHaveProperty("providerID");
  });

  test("labels and amounts that are no texts are left out; their neighbours stay", () => {
    const view = projectNode(
      node({ metadata: { labels: { a: 1, b: "b" } }, status: { capacity: { cpu: 4, pods: "9" } } }),
      undefined,
    );
    expect(view.labels).toEqual({ b: "b" });
    expect(view.capacity).toEqual({ pods: "9" });
  });

  test("nothing that stands in spec, status or metadata makes it throw, and twice the same is the same", () => {
    const anything = fc.anything({ maxDepth: 4, withNullPrototype: false });
    const metadata = fc.record(
      {
        labels: anything,
        annotations: anything,
        finalizers: anything,
        ownerReferences: anything,
        deletionTimestamp: anything,
      },
      { requiredKeys: [] },
    );
    const condition = fc.record(
      { type: anything, status: anything, lastTransitionTime: anything },
      { requiredKeys: [] },
    );
    const status = fc.oneof(anything, fc.record({ conditions: fc.array(condition), capacity: anything }));
    const spec = fc.oneof(anything, fc.record({ taints: fc.array(anything), providerID: anything }));
    fc.assert(
      fc.property(metadata, spec, status, (metadata, spec, status) => {
        const raw = JSON.parse(JSON.stringify(node({ metadata, spec, status }))) as KubeObject;
        const view = projectNode(raw, undefined);
        expect(projectNode(raw, view)).toBe(view);
        expect(
          view.conditions.every(({ type, status }) => typeof type === "string" && typeof status === "string"),
        ).toBe(true);
      }),
    );
  });
});

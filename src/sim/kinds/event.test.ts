import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import { coreEvent, event, fromCore, toCore } from "./event.ts";

const metadata = {
  name: "e",
  namespace: "a",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "2026-01-01T00:00:00Z",
};
const now = Date.parse("2026-01-01T01:00:00Z");

function anEvent(fields: object = {}): KubeObject {
  const object: KubeObject = { apiVersion: "v1", kind: "Event", metadata, ...fields };
  coreEvent.rules.decode?.(object);
  return object;
}

function shown(fields: object): Record<string, unknown> {
  const object = anEvent(fields);
  return Object.fromEntries(coreEvent.columns.map(column => [column.name, column.cell(object, now)]));
}

describe("in the other group", () => {
  test("fields have other names", () => {
    const core = anEvent({
      involvedObject: { kind: "Node", name: "n" },
      message: "it broke",
      source: { component: "kubelet" },
      count: 2,
      reportingComponent: "me",
    });
    expect(fromCore(core)).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      regarding: { kind: "Node", name: "n" },
      note: "it broke",
      deprecatedSource: { component: "kubelet" },
      deprecatedCount: 2,
      reportingController: "me",
      deprecatedFirstTimestamp: null,
    });
  });

  test("there and back is the same object", () => {
    const text = fc.string();
    const fields = fc.record(
      { message: text, reason: text, action: text, count: fc.nat(), type: text },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, given => {
        const core = anEvent(given);
        expect(toCore(fromCore(core))).toEqual(core);
      }),
    );
  });

  test("the columns say the same", () => {
    const core = anEvent({ involvedObject: { kind: "Node", name: "n" }, message: "m", reason: "R", count: 4 });
    const cells = (kind: typeof event, object: KubeObject) => kind.columns.map(column => column.cell(object, now));
    expect(cells(event, fromCore(core))).toEqual(cells(coreEvent, core));
  });

  test("fields to choose by have the names of the group", () => {
    const core = anEvent({ involvedObject: { kind: "Node", name: "n" }, reportingComponent: "me", reason: "R" });
    const chosen = { "involvedObject.name": "n", reportingComponent: "me", reason: "R", source: "me" };
    expect(coreEvent.rules.selectableFields?.(core)).toMatchObject(chosen);
    const other = event.rules.selectableFields?.(fromCore(core));
    expect(other).toMatchObject({ "regarding.name": "n", reportingController: "me", reason: "R" });
    expect(other).not.toHaveProperty("source");
  });
});

describe("kubectl get events", () => {
  test("of the old kind", () => {
    const fields = {
      involvedObject: { kind: "Pod", name: "p", fieldPath: "spec.x" },
      type: "Warning",
      reason: "Failed",
      message: " it failed\n",
      count: 3,
      firstTimestamp: "2026-01-01T00:00:00Z",
      lastTimestamp: "2026-01-01T00:50:00Z",
      source: { component: "kubelet", host: "n" },
    };
    expect(shown(fields)).toEqual({
      "Last Seen": "10m",
      Type: "Warning",
      Reason: "Failed",
      Object: "pod/p",
      Subobject: "spec.x",
      Source: "kubelet, n",
      Message: "it failed",
      "First Seen": "60m",
      Count: 3,
      Name: "e",
    });
  });

  test("of the new kind, with its series", () => {
    const fields = {
      eventTime: "2026-01-01T00:30:00.000000Z",
      reportingComponent: "me",
      series: { count: 5, lastObservedTime: "2026-01-01T00:59:00.000000Z" },
    };
    expect(shown(fields)).toMatchObject({
      "Last Seen": "60s",
      "First Seen": "30m",
      Count: 5,
      Source: "me",
      Object: "",
    });
  });

  test("without any time", () => {
    expect(shown({ involvedObject: { kind: "Node" } })).toMatchObject({
      "Last Seen": "<unknown>",
      Count: 1,
      Object: "node",
    });
  });
});

import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { formatTime } from "../api/time.ts";
import { projections } from "./project.ts";

const project = projections();
const t0 = Date.parse("2026-01-01T00:00:00Z");

type Raw = { metadata?: object; [field: string]: unknown };

function object(kind: string, { metadata = {}, ...rest }: Raw = {}): KubeObject {
  const identity = { name: "x", uid: "x-uid", resourceVersion: "1", generation: 1, creationTimestamp: formatTime(t0) };
  return { apiVersion: "test/v1", kind, metadata: { ...identity, ...metadata }, ...rest };
}

describe("a claim", () => {
  const status = {
    providerID: "p://x",
    nodeName: "x",
    conditions: [
      { type: "Launched", status: "True", reason: "Launched", message: "", lastTransitionTime: formatTime(t0) },
    ],
  };
  const claim = (raw: Raw = {}) => object("NodeClaim", { spec: { expireAfter: "1h" }, status, ...raw });

  test("has its pool and zone by label, its deadline by annotation, and its defaults", () => {
    const view = project.claim(
      claim({
        metadata: {
          labels: { "karpenter.sh/nodepool": "p", "topology.kubernetes.io/zone": "z" },
          annotations: { "karpenter.sh/nodeclaim-termination-timestamp": formatTime(t0 + 60_000) },
        },
      }),
      undefined,
    );
    expect(view).toMatchObject({
      pool: "p",
      zone: "z",
      terminationAt: t0 + 60_000,
      providerID: "p://x",
      generation: 1,
    });
    expect(view.spec).toMatchObject({ expireAfter: "1h", readinessTTL: "15m" });
    expect(view.conditions).toEqual([{ type: "Launched", status: "True", reason: "Launched", message: "", since: t0 }]);
  });

  test("made by hand has neither pool nor zone, and a deadline that is no time is none", () => {
    const annotations = { "karpenter.sh/nodeclaim-termination-timestamp": "now" };
    const view = project.claim(claim({ metadata: { annotations }, status: undefined }), undefined);
    for (const field of ["pool", "zone", "terminationAt", "providerID"]) expect(view).not.toHaveProperty(field);
    expect(view.status).toEqual({});
  });

  test("every version is another view, good as a precondition; what it asks for is read once", () => {
    const previous = project.claim(claim(), undefined);
    const next = project.claim(claim({ metadata: { resourceVersion: "2" } }), previous);
    expect(next.resourceVersion).toBe("2");
    expect(next.spec).toBe(previous.spec);
  });

  test("another claim of the name has its own spec", () => {
    const previous = project.claim(claim(), undefined);
    const next = project.claim(claim({ metadata: { uid: "y-uid" }, spec: { expireAfter: "2h" } }), previous);
    expect(next.spec.expireAfter).toBe("2h");
  });
});

test("of an action every version is another view", () => {
  const action = (resourceVersion: string) =>
    object("NodeAction", { metadata: { resourceVersion }, spec: { epoch: 1 } });
  const previous = project.action(action("1"), undefined);
  expect(previous).toMatchObject({ spec: { epoch: 1 }, status: {} });
  expect(project.action(action("2"), previous).resourceVersion).toBe("2");
});

describe("a pool", () => {
  const pool = (spec: unknown, raw: Raw = {}) => object("NodePool", { spec, ...raw });

  test("is kept as written and as it is meant", () => {
    const view = project.pool(pool({ replicas: 3, consolidateAfter: "1m" }), undefined);
    expect(view.written).toEqual({ replicas: 3, consolidateAfter: "1m" });
    expect(view.effective.disruption.disruptAfter.Emptiness).toBe("1m");
    expect(view).not.toHaveProperty("invalid");
  });

  test("without repair has the provider's defaults, or none if the controller was told so", () => {
    expect(project.pool(pool({}), undefined).effective.repair.mode).toBe("Enabled");
    expect(projections({ repairUnset: "off" }).pool(pool({}), undefined).effective.repair.mode).toBe("Disabled");
  });

  test.each<[string, unknown, string]>([
    [
      "what only we can judge",
      { disruption: { budgets: [{ nodes: 1, schedule: "99 * * * *", duration: "1h" }] } },
      "spec.disruption.budgets[0].schedule",
    ],
    ["what a server with our definition would have refused", { replicas: "three" }, "spec.replicas"],
    ["no object at all", "everything", "spec"],
  ])("that cannot be understood says why: %s", (_, spec, where) => {
    expect(project.pool(pool(spec), undefined).invalid).toContain(where);
  });

  test("with a mere warning is in force", () => {
    const budgets = [{ nodes: 1, schedule: "@daily", duration: "1h" }];
    expect(project.pool(pool({ disruption: { budgets } }), undefined)).not.toHaveProperty("invalid");
  });

  test("that says something else in a new generation is read again, and mended", () => {
    const broken = project.pool(pool({ replicas: "three" }), undefined);
    const mended = project.pool(pool({ replicas: 3 }, { metadata: { generation: 2, resourceVersion: "2" } }), broken);
    expect(mended).not.toHaveProperty("invalid");
    expect(mended.effective.replicas).toBe(3);
  });

  test("changes with its status, not with its version alone", () => {
    const previous = project.pool(pool({}), undefined);
    expect(project.pool(pool({}, { metadata: { resourceVersion: "2" } }), previous)).toBe(previous);
    const counted = project.pool(pool({}, { metadata: { resourceVersion: "3" }, status: { nodes: 2 } }), previous);
    expect(counted.status.nodes).toBe(2);
    expect(counted.effective).toBe(previous.effective);
  });
});

describe("the safety policy", () => {
  const policy = (spec: unknown, raw: Raw = {}) =>
    object("SafetyPolicy", { spec, ...raw, metadata: { name: "default", ...raw.metadata } });

  test("has every limit, and says what it does not understand", () => {
    expect(project["safety-policy"](policy({}), undefined)).toMatchObject({
      policy: { caps: { repair: { cluster: "10%" } } },
    });
    expect(project["safety-policy"](policy({ caps: { all: { cluster: "many" } } }), undefined).invalid).toContain(
      "spec.caps.all.cluster",
    );
  });

  test("is invalid while its deadline for an upgrade is no time", () => {
    const annotations = { "fettle.dev/cluster-upgrade": "tomorrow" };
    const broken = project["safety-policy"](policy({}, { metadata: { annotations } }), undefined);
    expect(broken.invalid).toContain("fettle.dev/cluster-upgrade");
    expect(project["safety-policy"](policy({}), broken)).not.toHaveProperty("invalid");
  });

  test("changes with its status, not with its version alone", () => {
    const previous = project["safety-policy"](policy({}), undefined);
    expect(project["safety-policy"](policy({}, { metadata: { resourceVersion: "2" } }), previous)).toBe(previous);
    expect(project["safety-policy"](policy({}, { status: { nodes: 1 } }), previous)).not.toBe(previous);
  });
});

describe("a disruption budget", () => {
  const budget = (spec: object, status: object = {}) =>
    project["disruption-budget"](
      object("PodDisruptionBudget", { metadata: { namespace: "n", generation: 2 }, spec, status }),
      undefined,
    );

  test.each<[string, object, unknown]>([
    ["an absent selector selects nothing", {}, undefined],
    ["an empty one selects everything", { selector: {} }, []],
    ["labels", { selector: { matchLabels: { app: "a" } } }, [{ key: "app", operator: "=", values: ["a"] }]],
    ["one that cannot be read protects all", { selector: { matchExpressions: [{ key: "a", operator: "Like" }] } }, []],
  ])("%s", (_, spec, selector) => expect(budget(spec).selector).toEqual(selector));

  test("allows nothing until its status says so, and says of which spec that speaks", () => {
    expect(budget({})).toMatchObject({ disruptionsAllowed: 0, isObserved: false });
    expect(budget({}, { disruptionsAllowed: 2, observedGeneration: 1 })).toMatchObject({
      disruptionsAllowed: 2,
      isObserved: false,
    });
    expect(budget({}, { disruptionsAllowed: 2, observedGeneration: 2 })).toMatchObject({
      disruptionsAllowed: 2,
      isObserved: true,
    });
  });

  test("may let go of what is not ready", () => {
    expect(budget({ unhealthyPodEvictionPolicy: "AlwaysAllow" }).evictsUnhealthyAlways).toBe(true);
    expect(budget({ unhealthyPodEvictionPolicy: "IfHealthyBudget" }).evictsUnhealthyAlways).toBe(false);
  });
});

test("an attachment names its node and, unless it is inline, its volume", () => {
  const raw = object("VolumeAttachment", { spec: { nodeName: "a", source: { persistentVolumeName: "pv" } } });
  const view = project.attachment(raw, undefined);
  expect(view).toEqual({ name: "x", uid: "x-uid", nodeName: "a", volume: "pv" });
  expect(project.attachment({ ...raw, status: { attached: true } }, view)).toBe(view);
  expect(
    project.attachment(object("VolumeAttachment", { spec: { nodeName: "a", source: {} } }), view),
  ).not.toHaveProperty("volume");
});

test("a volume claim names its volume once it is bound", () => {
  const raw = (spec: object) => object("PersistentVolumeClaim", { metadata: { namespace: "n" }, spec });
  const pending = project["volume-claim"](raw({}), undefined);
  expect(pending).toMatchObject({ namespace: "n", name: "x" });
  expect(pending.volume).toBeUndefined();
  expect(project["volume-claim"](raw({ volumeName: "pv" }), pending).volume).toBe("pv");
});

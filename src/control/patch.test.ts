import { describe, expect, test } from "vitest";
import { metadataBody, ownersAfter, replacing, statusBody, taintsAfter, needsLive } from "./patch.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

describe("a change of metadata", () => {
  test("adds and removes finalizers among those of others", () => {
    const change = { addFinalizers: ["ours"], removeFinalizers: ["old"] };
    expect(metadataBody(change, ["theirs", "old"])).toEqual({ finalizers: ["theirs", "ours"] });
  });

  test("is none where all is so already", () => {
    expect(metadataBody({ addFinalizers: ["ours"], removeFinalizers: ["old"] }, ["ours"])).toBeUndefined();
    expect(metadataBody({}, [])).toBeUndefined();
    expect(metadataBody({ labels: {}, annotations: {} }, [])).toBeUndefined();
  });

  test("sets labels and takes them away with null", () => {
    const change = { labels: { a: "1", b: null }, annotations: { c: "2" } };
    expect(metadataBody(change, ["theirs"])).toEqual(change);
  });

  test("needs the object as it is only where it touches a list", () => {
    expect(needsLive({ labels: { a: "1" } })).toBe(false);
    expect(needsLive({ addTaints: [] })).toBe(false);
    expect(needsLive({ removeFinalizers: ["old"] })).toBe(true);
    expect(needsLive({ owner: { name: "n", uid: "u" } })).toBe(true);
  });
});

describe("taints", () => {
  const theirs = { key: "theirs", effect: "NoSchedule", value: "x" } as const;
  const ours = { key: "ours", effect: "NoSchedule" } as const;

  test("keep their order and those of others", () => {
    const old = { key: "old", effect: "NoExecute" } as const;
    expect(taintsAfter([theirs, old], { addTaints: [ours], removeTaints: [old] })).toEqual([theirs, ours]);
  });

  test("are known by key and effect: another effect is another taint", () => {
    const other = { key: "ours", effect: "NoExecute" } as const;
    expect(taintsAfter([other], { addTaints: [ours] })).toEqual([other, ours]);
    expect(taintsAfter([other], { removeTaints: [ours] })).toBeUndefined();
    expect(taintsAfter([ours], { addTaints: [ours] })).toBeUndefined();
  });
});

describe("owners", () => {
  test("get the claim once", () => {
    const owner = { name: "claim", uid: "u" };
    const after = ownersAfter([], owner);
    expect(after).toEqual([
      { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", name: "claim", uid: "u", blockOwnerDeletion: true },
    ]);
    expect(ownersAfter(after ?? [], owner)).toBeUndefined();
    expect(ownersAfter([], undefined)).toBeUndefined();
  });
});

describe("a change of status", () => {
  test("stamps conditions that have no time of their own, in whole seconds", () => {
    const conditions = [
      { type: "New", status: "True", reason: "New", message: "" },
      { type: "Old", status: "True", reason: "Old", message: "", since: now - 90_000 },
    ];
    expect(statusBody({}, { conditions }, now + 999)).toEqual({
      conditions: [
        { type: "New", status: "True", reason: "New", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
        { type: "Old", status: "True", reason: "Old", message: "", lastTransitionTime: "2025-12-31T23:58:30Z" },
      ],
    });
  });

  test("takes keys away that a map no longer has, at every depth, and leaves fields alone that it does not name", () => {
    const current = { resources: { cpu: "4", gpu: "1" }, nested: { a: { b: 1, c: 2 } }, other: { x: 1 } };
    expect(replacing(current, { resources: { cpu: "2" }, nested: { a: { b: 1 } } })).toEqual({
      resources: { cpu: "2", gpu: null },
      nested: { a: { b: 1, c: null } },
    });
  });

  test("replaces lists whole, and what was absent", () => {
    expect(replacing({ list: [1, 2] }, { list: [3], map: { a: 1 } })).toEqual({ list: [3], map: { a: 1 } });
  });
});

import { describe, expect, test } from "vitest";
import { History } from "./history.ts";
import { RecentlyUsed, StoredObject } from "./stored.ts";

const recent = new RecentlyUsed(100);
const version = (name: string, revision: number) =>
  new StoredObject(
    {
      apiVersion: "v1",
      kind: "X",
      metadata: { name, uid: name, resourceVersion: String(revision), creationTimestamp: "" },
    },
    recent,
  );

function written(bounds = { changeCountMax: 100, bytesMax: 1e9 }): History {
  const history = new History(0, bounds);
  const a2 = version("a", 2);
  const b3 = version("b", 3);
  const a4 = version("a", 4);
  history.add({ type: "ADDED", revision: 2, key: "a", stored: a2, previous: undefined });
  history.add({ type: "ADDED", revision: 3, key: "b", stored: b3, previous: undefined });
  history.add({ type: "MODIFIED", revision: 4, key: "a", stored: a4, previous: a2 });
  history.add({ type: "DELETED", revision: 5, key: "b", stored: version("b", 5), previous: b3 });
  return history;
}

describe("history", () => {
  test("gives the changes after a revision, oldest first", () => {
    const revisions = (after: number) => [...written().after(after)].map(({ revision }) => revision);
    expect(revisions(0)).toEqual([2, 3, 4, 5]);
    expect(revisions(3)).toEqual([4, 5]);
    expect(revisions(5)).toEqual([]);
  });

  test("tells what each changed key held at a revision", () => {
    const before = written().undo(3);
    expect(before.get("a")?.object.metadata.resourceVersion).toBe("2");
    expect(before.get("b")?.object.metadata.resourceVersion).toBe("3");
    expect([...written().undo(2)].map(([key, stored]) => [key, stored?.object.metadata.name])).toEqual([
      ["b", undefined],
      ["a", "a"],
    ]);
  });

  test("forgets the oldest beyond its count, and says since when it is complete", () => {
    const history = written({ changeCountMax: 2, bytesMax: 1e9 });
    expect([...history.after(0)].map(({ revision }) => revision)).toEqual([4, 5]);
    expect(history.completeSince).toBe(3);
  });

  test("forgets the oldest beyond its bytes", () => {
    expect(written({ changeCountMax: 100, bytesMax: 8_192 }).completeSince).toBe(3);
  });

  test("forgets everything up to a compaction, and nothing after it", () => {
    const history = written();
    history.compact(4);
    expect([...history.after(0)].map(({ revision }) => revision)).toEqual([5]);
    expect(history.completeSince).toBe(4);
    history.compact(2);
    expect(history.completeSince).toBe(4);
  });

  test("keeps its place over thousands of changes", () => {
    const history = new History(0, { changeCountMax: 10, bytesMax: 1e9 });
    for (let revision = 1; revision <= 5_000; revision++) {
      history.add({ type: "MODIFIED", revision, key: "a", stored: version("a", revision), previous: undefined });
    }
    expect([...history.after(4_995)].map(({ revision }) => revision)).toEqual([4_996, 4_997, 4_998, 4_999, 5_000]);
    expect(history.completeSince).toBe(4_990);
  });
});

import { describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import { ApiError } from "../api/status.ts";
import type { Staleness } from "../snapshot/picture.ts";
import { nodes, pods } from "./resources.ts";
import { stalenessOf, StalenessWatch } from "./staleness.ts";

const failure = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
type State = { synced: boolean; lastAt: number; lastError?: Error };

function watching() {
  const clock = new ManualClock();
  const fed = (resource: typeof nodes) => {
    const state: State = { synced: true, lastAt: clock.monotonic() };
    const ageMs = () => clock.monotonic() - state.lastAt;
    return {
      resource,
      state,
      fed: {
        ageMs,
        stop: () => {},
        get synced() {
          return state.synced;
        },
        get lastError() {
          return state.lastError;
        },
      },
    };
  };
  return { clock, kinds: [fed(nodes), fed(pods)] as const };
}

describe("a picture", () => {
  test("is too old when a watch has been silent for more than 75 s", async () => {
    const { clock, kinds } = watching();
    clock.pause(75_000);
    expect(stalenessOf(kinds)).toBeUndefined();
    clock.pause(1);
    expect(stalenessOf(kinds)).toMatchObject({ resource: "nodes" });
    kinds[0].state.lastAt = clock.monotonic();
    expect(stalenessOf(kinds)?.message).toBe(
      "The watch of pods has brought nothing for more than 75 s, not even a bookmark.",
    );
  });

  test("is too old while a kind is not listed whole, however lively its watch", () => {
    const { kinds } = watching();
    kinds[1].state.synced = false;
    expect(stalenessOf(kinds)).toEqual({ resource: "pods", message: "The list of pods is not complete." });
  });

  test("says why a list is not complete, where that is known", () => {
    const { kinds } = watching();
    Object.assign(kinds[1].state, { synced: false, lastError: new Error("connection refused") });
    expect(stalenessOf(kinds)?.message).toBe("The list of pods is not complete: connection refused");
  });

  test.each([401, 403])("is too old at once when a kind may not be watched any more (%i), until it may", code => {
    const { kinds } = watching();
    kinds[1].state.lastError = new ApiError({ ...failure, code, message: "pods is forbidden" });
    const message = "The API server does not let us watch pods: pods is forbidden";
    expect(stalenessOf(kinds)).toEqual({ resource: "pods", message });
    delete kinds[1].state.lastError;
    expect(stalenessOf(kinds)).toBeUndefined();
  });

  test("is not too old for a watch that broke off for another reason, as long as it is not silent for too long", () => {
    const { clock, kinds } = watching();
    kinds[1].state.lastError = new ApiError({ ...failure, code: 500 });
    clock.pause(75_000);
    expect(stalenessOf(kinds)).toBeUndefined();
    kinds[0].state.lastError = new Error("connection refused");
    clock.pause(1);
    expect(stalenessOf(kinds)?.message).toContain("has brought nothing for more than 75 s");
  });

  test("is watched without being asked: its ageing and its recovery are told once each", async () => {
    const { clock, kinds } = watching();
    const told: (string | undefined)[] = [];
    const watch = new StalenessWatch({ clock, kinds, changed: (found?: Staleness) => told.push(found?.resource) });
    await clock.advance(75_000);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(["nodes"]);
    await clock.advance(100_000);
    expect(told).toEqual(["nodes"]);
    for (const { state } of kinds) state.lastAt = clock.monotonic();
    await clock.advance(1000);
    expect(told).toEqual(["nodes", undefined]);
    watch.stop();
    await clock.advance(500_000);
    expect(told).toHaveLength(2);
    expect(clock.waiting).toBe(0);
  });
});

import { describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { Staleness } from "../snapshot/picture.ts";
import { nodes, pods } from "./resources.ts";
import { stalenessOf, StalenessWatch } from "./staleness.ts";

function watching() {
  const clock = new ManualClock();
  const fed = (resource: typeof nodes) => {
    const state = { synced: true, lastAt: clock.monotonic() };
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

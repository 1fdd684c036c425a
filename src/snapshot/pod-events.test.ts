import { describe, expect, test } from "vitest";
import { aNode, aPod, aProvider, at, aWorld, t0 } from "../../test/builders.ts";
import { ClusterPicture } from "./cluster-picture.ts";
import type { PodView } from "./views.ts";

const seenAt = at("1h");
const world = (pods: readonly PodView[] = []) => aWorld({ nodes: [aNode("a")], pods, now: () => seenAt });

describe("of pods that were there before us their own word counts", () => {
  test.each<[string, PodView, number | undefined]>([
    ["one that runs: its start", aPod("web", { on: "a", startedAt: at("5m") }), at("5m")],
    ["one that has not started: when we saw it", pending({ createdAt: at("7m") }), seenAt],
    ["one that should have stopped: when it should", aPod("web", { on: "a", deletionAt: at("10m") }), at("10m")],
    ["one that is stopping: when we saw it", aPod("web", { on: "a", deletionAt: seenAt + 30_000 }), seenAt],
    ["one from the future: when we saw it", aPod("web", { on: "a", startedAt: at("2h") }), seenAt],
    ["a daemon: nothing", aPod("web", { on: "a", ownerKind: "DaemonSet", tier: "daemon" }), undefined],
    ["a static one: nothing", aPod("web", { on: "a", isStatic: true }), undefined],
    ["one without a node: nothing", aPod("web"), undefined],
  ])("%s", (_, pod, expected) => {
    expect(world([pod]).podEvents.on("a")).toBe(expected);
  });
});

describe("what we see happen counts from when we see it", () => {
  const runs = aPod("web", { on: "a" });
  test.each<[string, PodView | undefined, PodView | undefined, number]>([
    ["it is bound", aPod("web"), runs, seenAt],
    ["it is told to stop", runs, { ...runs, deletionAt: at("2h") }, seenAt],
    ["it ends", runs, { ...runs, phase: "Succeeded" }, seenAt],
    ["it is gone", runs, undefined, seenAt],
    ["it becomes ready: no event", { ...runs, isReady: false }, runs, t0],
    ["it is gone at last, having ended before: no event", { ...runs, phase: "Failed" }, undefined, t0],
  ])("%s", (_, before, after, expected) => {
    const picture = world(before ? [before] : []);
    if (after === undefined) picture.remove("pod", before ?? runs);
    else picture.put("pod", after);
    expect(picture.podEvents.on("a")).toBe(expected);
  });
});

test("the latest of several counts", () => {
  const picture = world([aPod("a", { on: "a", startedAt: at("9m") }), aPod("b", { on: "a", startedAt: at("3m") })]);
  expect(picture.podEvents.on("a")).toBe(at("9m"));
});

test("a node that is gone leaves nothing to its successor of the same name", () => {
  const picture = world([aPod("web", { on: "a", startedAt: at("9m") })]);
  picture.remove("pod", aPod("web", { on: "a" }));
  picture.remove("node", aNode("a"));
  expect(picture.podEvents.on("a")).toBeUndefined();
});

function pending(options: Partial<PodView>): PodView {
  const { startedAt: _, ...pod } = aPod("web", { on: "a", phase: "Pending", ...options });
  return pod;
}

describe("since when none is missed", () => {
  test("from the first list on: those that went while we began are in none", () => {
    let now = at("1m");
    const picture = new ClusterPicture(aProvider(), { now: () => now });
    const { handlers } = picture.feed("pod");
    handlers.added(aPod("web", { on: "a" }));
    now = at("2m");
    handlers.synced();
    now = at("3m");
    handlers.synced();
    expect(picture.podEvents.since).toBe(at("2m"));
  });

  test("another picture of the same views has missed no more", () => {
    const picture = world([aPod("web", { on: "a", startedAt: at("9m") })]);
    const fresh = ClusterPicture.rebuilt(picture);
    expect([fresh.podEvents.since, fresh.podEvents.on("a")]).toEqual([picture.podEvents.since, at("9m")]);
  });
});

test("what was written before us is all there was where somebody watched until a minute before, and not otherwise", () => {
  const seamless = (awayMs: number) => {
    const { podEvents } = world();
    podEvents.followOn(podEvents.since - awayMs);
    return podEvents.isSeamless;
  };
  expect([0, 60_000, 60_001].map(seamless)).toEqual([true, true, false]);
  // By a clock that is ahead: how long nobody watched is not known.
  expect([-60_000, -60_001].map(seamless)).toEqual([true, false]);
  expect(world().podEvents.isSeamless).toBe(false);
});

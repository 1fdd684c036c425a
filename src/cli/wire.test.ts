import { expect, test } from "vitest";
import { aProvider } from "../../test/builders.ts";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { Resource } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import { startFeeds } from "../control/feeds.ts";
import type { KubeApi, WatchOptions } from "../control/ports.ts";
import type { Agent } from "../provider/repair-statements.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { measuredWatches, providers, unlisted, type Watched, watching, wire } from "./wire.ts";

const watched = (resource: string, synced: boolean, lastError?: Error): Watched => ({
  resource,
  fed: { synced, lastError, ageMs: () => 1500 },
});

test("what has not been listed yet is named, with why where that is known", () => {
  const watches = [
    watched("nodes", true),
    watched("pods", false),
    watched("nodepools", false, new Error("the server could not find the requested resource")),
  ];
  expect(unlisted(watches)).toBe("Not listed yet: pods, nodepools (the server could not find the requested resource).");
});

test("an error of a watch that is listed holds nobody up", () => {
  expect(unlisted([watched("nodes", true, new Error("reset"))])).toBeUndefined();
});

test("a kind that may not be watched any more is named, though it was listed once", () => {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 403 } as const;
  const forbidden = new ApiError({ ...status, message: "pods is forbidden" });
  const watches = [watched("nodes", true), watched("pods", true, forbidden), watched("nodepools", false)];
  expect(unlisted(watches)).toBe(
    "Not listed yet: nodepools. Not allowed to watch any more: pods (pods is forbidden). The roles that it needs: fettle install prints them.",
  );
});

test("kinds that the cluster does not have come with the way to get them", () => {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 404 } as const;
  const absent = new ApiError({ ...status, message: "404 page not found" });
  expect(unlisted([watched("nodepools", false, absent)])).toBe(
    "Not listed yet: nodepools (404 page not found). Kinds that the cluster does not have: fettle crds | kubectl apply --server-side -f -.",
  );
});

test("news of nodes, and of what a person says stop by, is taken in at once; of everything else more may come together", async () => {
  const gatherMs = new Map<string, number | undefined>();
  const watch = (resource: Resource, options: WatchOptions) => {
    gatherMs.set(resource.plural, options.gatherMs);
    return { close() {} };
  };
  const clock = new ManualClock();
  const feed = watching({ watch } as unknown as KubeApi, clock, []);
  const handlers = { changed() {}, nodeSeen() {}, isSearching: true };
  const fed = startFeeds(feed, new ClusterPicture(aProvider()), handlers);
  await clock.advance(0);
  for (const kind of fed) kind.fed.stop();
  const atOnce = [...gatherMs].flatMap(([plural, ms]) => (ms === 0 ? plural : []));
  expect(atOnce.toSorted()).toEqual(["nodepools", "nodes", "safetypolicies"]);
  for (const plural of atOnce) gatherMs.delete(plural);
  expect(gatherMs.size).toBeGreaterThan(10);
  expect(new Set(gatherMs.values())).toEqual(new Set([200]));
});

test("watches are measured by their kind", () => {
  expect(measuredWatches({ watches: [watched("nodes", true)] })).toEqual([
    { resource: "nodes", isSynced: true, ageMs: 1500 },
  ]);
});

test.each(providers)(
  "with provider %s the conditions of an agent mean a sick node where that is asked for",
  async name => {
    const api = { watch: () => ({ close() {} }) } as unknown as KubeApi;
    const isBad = (agentConditions?: readonly Agent[]) => {
      const wired = wire({
        api,
        clock: new ManualClock(),
        provider: name,
        controllers: new Set(),
        settings: { cluster: "test", dryRun: false, foreignClaims: "ignore" },
        leadership: { epoch: undefined, onChange() {} },
        journal() {},
        ...(agentConditions && { agentConditions }),
      });
      void wired.stop();
      const { repairStatements } = wired.controller.picture.provider;
      return repairStatements.some(({ conditionType }) => conditionType === "KernelDeadlock");
    };
    expect(isBad()).toBe(false);
    expect(isBad(["eks-node-monitoring-agent"])).toBe(false);
    expect(isBad(["node-problem-detector"])).toBe(true);
  },
);

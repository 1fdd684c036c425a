import { describe, expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, at, t0 } from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import { aCheck, aCheckContext, aLease, aRemediation } from "../../test/check-builders.ts";
import type { CheckIndex } from "./check-index.ts";
import type { ClusterPicture } from "./cluster-picture.ts";
import type { ActionView, ClaimView, PoolView } from "./views.ts";

const workers = { selector: { matchLabels: { role: "worker" } } };
const labels = { role: "worker" };
const web = aCheck("web", { spec: workers });

function dirtied(index: CheckIndex, change: () => void): readonly string[] {
  index.takeDirty();
  change();
  return [...index.takeDirty()].sort();
}

function names(list: readonly { readonly name: string }[]): readonly string[] {
  return list.map(({ name }) => name);
}

describe("which nodes a check selects", () => {
  test("follows the labels of nodes, and tells the check that a node has left", () => {
    const { checks } = aCheckContext({ checks: [web] });
    const plain = aNode("a");
    const worker = aNode("a", { labels });
    checks.replaceNode({ before: undefined, after: plain });
    expect(checks.selectedCount(web)).toBe(0);
    expect(dirtied(checks, () => checks.replaceNode({ before: plain, after: worker }))).toContain("check/web");
    expect(names(checks.selected(web))).toEqual(["a"]);
    expect(dirtied(checks, () => checks.replaceNode({ before: worker, after: plain }))).toContain("check/web");
    expect(checks.selectedCount(web)).toBe(0);
    expect(checks.concerning("a")).toEqual([]);
  });

  test("follows the selector", () => {
    const { checks } = aCheckContext({ checks: [web], nodes: [aNode("a", { labels }), aNode("b")] });
    const all = aCheck("web", { generation: 2 });
    checks.replaceCheck({ before: web, after: all });
    expect(names(checks.selected(all))).toEqual(["a", "b"]);
    checks.replaceCheck({ before: all, after: undefined });
    expect(checks.concerning("a")).toEqual([]);
  });

  test.each([
    { checks: ["web"], node: { labels }, found: ["web"] },
    { checks: ["web", "all"], node: { labels }, found: ["all", "web"] },
    { checks: ["web"], node: {}, found: [] },
  ])("a node is told by whom it is checked: $found", ({ checks: wanted, node, found }) => {
    const known = { web, all: aCheck("all") };
    const checks = wanted.map(name => known[name as "web" | "all"]);
    expect(names(aCheckContext({ checks, nodes: [aNode("a", node)] }).checks.concerning("a"))).toEqual(found);
  });
});

describe("how many nodes are gone with a remediation left", () => {
  const made = aRemediation({ of: web, on: "a" });

  test("counts one that was never there, until it comes", () => {
    const { checks } = aCheckContext({ checks: [web], remediations: [made] });
    expect(checks.remediatedAndGoneCount(web)).toBe(1);
    checks.replaceNode({ before: undefined, after: aNode("a") });
    expect(checks.remediatedAndGoneCount(web)).toBe(0);
  });

  test("counts one that goes, until its last remediation is gone, also before its check is known", () => {
    const { checks } = aCheckContext({ nodes: [aNode("a")] });
    const other = aRemediation({ of: web, on: "a", name: "a-other" });
    for (const after of [made, other]) checks.replaceRemediation({ before: undefined, after });
    expect(checks.remediatedAndGoneCount(web)).toBe(0);
    checks.replaceNode({ before: aNode("a"), after: undefined });
    expect(checks.remediatedAndGoneCount(web)).toBe(1);
    checks.replaceRemediation({ before: made, after: undefined });
    expect(checks.remediatedAndGoneCount(web)).toBe(1);
    checks.replaceRemediation({ before: other, after: undefined });
    expect(checks.remediatedAndGoneCount(web)).toBe(0);
    // Nothing of it is left behind for a node of that name.
    checks.replaceNode({ before: undefined, after: aNode("a") });
    checks.replaceNode({ before: aNode("a"), after: undefined });
    expect(checks.remediatedAndGoneCount(web)).toBe(0);
  });
});

describe("who is looked at again", () => {
  const sick = aNode("a", { labels, ready: "False" });

  test("nobody but the node itself when a healthy node changes in what no check reads", () => {
    const before = aNode("a", { labels });
    const { checks } = aCheckContext({ checks: [web], nodes: [before] });
    const after = aNode("a", { labels, annotations: { some: "thing" } });
    expect(dirtied(checks, () => checks.replaceNode({ before, after }))).toEqual([]);
  });

  test("the check and the arbiter when a node becomes not healthy", () => {
    const before = aNode("a", { labels });
    const { checks } = aCheckContext({ checks: [web], nodes: [before] });
    const marked = dirtied(checks, () => checks.replaceNode({ before, after: sick }));
    expect(marked).toEqual(["check/web", "cluster", "node/a"]);
  });

  test("the node and its check when a remediation changes, and nobody's node stays nobody's", () => {
    const { checks } = aCheckContext({
      checks: [web, aCheck("zoo", { spec: { selector: { matchLabels: { no: "node" } } } })],
      nodes: [sick],
    });
    const after = aRemediation({ of: web, on: "a" });
    expect(dirtied(checks, () => checks.replaceRemediation({ before: undefined, after }))).toEqual([
      "check/web",
      "cluster",
      "node/a",
    ]);
    expect(checks.remediatedNodes(web)).toEqual(["a"]);
    checks.replaceRemediation({ before: after, after: undefined });
    expect(checks.remediatedNodes(web)).toEqual([]);
  });

  test("nobody but the check when only its status is written", () => {
    const { checks } = aCheckContext({ checks: [web], nodes: [sick] });
    const after = { ...web, status: { phase: "Enabled" as const } };
    expect(dirtied(checks, () => checks.replaceCheck({ before: web, after }))).toEqual(["check/web"]);
  });

  test("all that are not healthy when its policy changes", () => {
    const { checks } = aCheckContext({ checks: [web], nodes: [sick, aNode("b", { labels })] });
    const after = aCheck("web", { spec: { ...workers, pauseRequests: ["me"] }, generation: 2 });
    expect(dirtied(checks, () => checks.replaceCheck({ before: web, after }))).toEqual([
      "check/web",
      "cluster",
      "node/a",
    ]);
  });

  test("the node when its lease changes", () => {
    const { checks } = aCheckContext({ checks: [web], nodes: [sick] });
    expect(dirtied(checks, () => checks.replaceLease("a", aLease("a")))).toEqual(["node/a"]);
    checks.replaceLease("a", undefined);
    expect(checks.lease("a")).toBeUndefined();
  });

  test("the check when what is done for it begins, for its time runs from there", () => {
    const askedBy = { kind: "NodeHealthCheck" as const, name: "web", uid: web.uid };
    const spec = { action: "Remediation", method: "Reboot", askedBy } as const;
    const before = anAction("remediation-a", { node: "a", phase: "Pending", spec });
    const after = { ...before, status: { ...before.status, startedAt: formatTime(t0) } };
    const { checks } = aCheckContext({ checks: [web], nodes: [sick], actions: [before] });
    expect(dirtied(checks, () => checks.replaceAction({ before, after: before }))).toEqual([]);
    expect(dirtied(checks, () => checks.replaceAction({ before, after }))).toEqual(["check/web"]);
  });

  test("the check when a successor becomes Ready", () => {
    const askedBy = { kind: "NodeHealthCheck" as const, name: "web", uid: web.uid };
    const action = anAction("remediation-old", {
      node: "old",
      phase: "Done",
      spec: { action: "Remediation", askedBy },
      status: { startedAt: formatTime(t0) },
    });
    const unready = aNode("new", { labels, conditions: [] });
    const { checks } = aCheckContext({ checks: [web], nodes: [unready], actions: [action] });
    expect(names(checks.ended(web))).toEqual(["remediation-old"]);
    const after = aNode("new", { labels, createdAt: at("1h") });
    expect(dirtied(checks, () => checks.replaceNode({ before: unready, after }))).toEqual(["check/web", "cluster"]);
    expect(dirtied(checks, () => checks.replaceAction({ before: action, after: undefined }))).toEqual([
      "check/web",
      "cluster",
    ]);
    expect(checks.ended(web)).toEqual([]);
  });

  test.each<[string, "claim" | "pool", () => ClaimView | PoolView]>([
    ["a claim comes up", "claim", () => aClaim("new", { pool: "p" })],
    ["its pool wants fewer", "pool", () => aPool("p", { spec: { replicas: 1 }, generation: 2 })],
  ])("the check that waits for a successor when %s", (_what, kind, view) => {
    const askedBy = { kind: "NodeHealthCheck" as const, name: "web", uid: web.uid };
    const done = { phase: "Done", status: { startedAt: formatTime(t0) } } as const;
    const taken = anAction("remediation-old", { node: "old", spec: { action: "Remediation", askedBy }, ...done });
    const claims = [aClaim("new", { pool: "p", stage: "registered" })];
    const pools = [aPool("p", { spec: { replicas: 2 } })];
    const marked = (actions: readonly ActionView[]) => {
      const { picture } = aCheckContext({ checks: [web], claims, pools, actions });
      const cluster = picture as ClusterPicture;
      cluster.put(kind, view());
      return [...cluster.takeDirty()];
    };
    expect(marked([taken])).toEqual(expect.arrayContaining(["check/web", "cluster"]));
    expect(marked([])).not.toContain("check/web");
  });
});

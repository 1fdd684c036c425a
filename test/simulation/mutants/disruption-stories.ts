// Stories of plans that wait, each about one thing that has changed since they were made.

import { pool } from "./manifests.ts";
import { story, type Story } from "./story.ts";

export const disruptionStories = { "a budget that is lowered while plans wait": lowered };

/** Three of four nodes wait for their replacements when the budget becomes one: one goes after the other. */
function lowered(): Story {
  const web = pool(4, { image: "one" });
  const disruption = (nodes: string) => ({ budgets: [{ nodes }] });
  const changed = (at: string, spec: object) => {
    return { at, do: { patch: { kind: "NodePool", name: "web", merge: { spec } } } };
  };
  const running = { kind: "NodeAction", where: { "status.phase": "Running" } };
  return {
    scenario: story({
      until: "30m",
      cluster: { manifests: [{ ...web, spec: { ...(web["spec"] as object), disruption: disruption("3") } }] },
      timeline: [
        changed("10m", { template: { metadata: { labels: { image: "two" } } } }),
        changed("10m20s", { disruption: disruption("1") }),
      ],
      expect: [
        { at: "10m15s", count: { kind: "NodeAction", is: 3 } },
        { at: "10m45s", count: { ...running, is: 1 } },
        { count: { kind: "NodeAction", where: { "spec.action": "Drift", "status.phase": "Done" }, is: 4 } },
      ],
    }),
  };
}

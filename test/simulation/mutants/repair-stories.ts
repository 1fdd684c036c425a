// Stories of sick nodes, each about one thing that holds repair back.

import type { Manifest } from "../../../src/api/meta.ts";
import type { Entry } from "../../../src/sim/simulation/scenario.ts";
import { faultyClass, pool, safetyPolicy } from "./manifests.ts";
import { story, type Story } from "./story.ts";

export const repairStories = {
  "flags that come one by one": oneByOne,
  "two sick nodes of ten": pacedRepairs,
  "a condition that is dated back": datedBack,
};

const repairs = (is: number) => ({ kind: "NodeAction", where: { "spec.action": "Repair" }, is });

function repaired(replicas: number, repair: object): Manifest {
  const web = pool(replicas);
  return { ...web, spec: { ...(web["spec"] as object), repair } };
}

const sicken = (at: string, count: number, word: string): Entry => {
  const oldest = { kind: "Node", selector: "karpenter.sh/nodepool=web", count };
  return { at, do: { annotate: { ...oldest, annotations: { "fettle.dev/simulate": word } } } };
};

/** One more than the brake allows, each due at once. */
function oneByOne(): Story {
  const policies = [{ conditionType: "KernelDeadlock", conditionStatus: "True", toleration: "0s" }];
  return {
    scenario: story({
      until: "20m",
      cluster: { manifests: [repaired(10, { policies }), safetyPolicy({ settle: { quiet: "10s" } })] },
      timeline: [1, 2, 3].map(count => sicken(`10m${count}s`, count, "KernelDeadlock=True")),
      expect: [{ count: repairs(0) }, { refusal: { code: "pool-too-unhealthy", is: 3 } }],
    }),
  };
}

/** Where nobody wrote a budget, the second waits for the first one's successor. */
function pacedRepairs(): Story {
  const unlimited = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%", duration: "1h" } };
  const policies = [{ conditionType: "Ready", toleration: "5m" }];
  return {
    scenario: story({
      until: "30m",
      cluster: { manifests: [repaired(10, { policies }), safetyPolicy({ caps: { repair: unlimited } })] },
      timeline: [sicken("10m", 2, "Ready=False")],
      expect: [{ at: "15m20s", count: repairs(1) }, { count: repairs(2) }],
    }),
  };
}

/** Twenty minutes after its start a node says that it has been bad for a day. */
function datedBack(): Story {
  const lies = { kind: "Lies", after: "20m", conditionType: "NetworkUnavailable", conditionStatus: "True" };
  const policies = [{ conditionType: "NetworkUnavailable", toleration: "15m" }];
  return {
    scenario: story({
      until: "40m",
      cluster: { manifests: [faultyClass(lies), repaired(1, { policies })] },
      expect: [
        { at: "30m", count: repairs(0) },
        { at: "36m", count: repairs(1) },
      ],
    }),
  };
}

// Stories of a drain: who is waited for, who writes beside us, and what ends it.

import { budget, claim, nodeAffinity, pool, workload } from "./manifests.ts";
import { deleted, doNotDisrupt, gone, scaled, story, type Story } from "./story.ts";

export const drainStories = {
  "a namesake": namesake,
  "a person writes between": writtenBetween,
  tiers,
  "a drain that is held": held,
  "an older leader's action": takenOver,
  "a finalizer of somebody else": heldByOthers,
  "a sick node in a drain": sickInDrain,
  "late watches": lateWatches,
};

/** A pod goes by itself and comes back elsewhere under its name, while only the old one can be seen. */
function namesake(): Story {
  const pods = { kind: "Pod", namespace: "default", name: "statefulset-0" };
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      workloads: [workload("StatefulSet", 1, { terminationGracePeriodSeconds: 1 })],
      timeline: [
        { at: "9m", do: { apply: pool(1) } },
        { at: "15m", do: { cordon: { kind: "Node", selector: "!karpenter.sh/nodepool" } } },
        { at: "15m", do: { watch: { fault: "Delay", delay: "60s", for: "10m", resources: ["pods"] } } },
        { at: "16m", do: { delete: pods } },
        deleted("16m10s"),
      ],
      expect: [{ count: { kind: "Node", is: 1 } }, { journal: { has: "evict-pod done", is: 0 } }],
    }),
  };
}

/** Between what is read of a node and what is written to it somebody else writes. */
function writtenBetween(): Story {
  const taints = [{ key: "team", value: "blue", effect: "NoSchedule" }];
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      workloads: [workload("Deployment", 1, { annotations: doNotDisrupt })],
      timeline: [
        { at: "10m", do: { api: { fault: "Slow", delay: "5s", for: "30s", verbs: ["get"], resources: ["nodes"] } } },
        deleted("10m"),
        { at: "10m5s", do: { patch: { kind: "Node", selector: "", merge: { spec: { taints } } } } },
      ],
      expect: [
        { at: "20m", count: { kind: "Node", where: { "spec.taints": "2" }, is: 1 } },
        { at: "20m", count: { kind: "Pod", where: { "status.phase": "Running" }, is: 1 } },
      ],
    }),
  };
}

/** What others may need goes after those who may need it. */
function tiers(): Story {
  const priorityClassName = "system-cluster-critical";
  const workloads = [
    workload("Deployment", 1, { annotations: doNotDisrupt }),
    workload("StatefulSet", 1, { priorityClassName }),
  ];
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      workloads,
      timeline: [deleted("10m")],
      expect: [{ count: { kind: "Pod", where: { "status.phase": "Running" }, is: 2 } }],
    }),
  };
}

function held(): Story {
  return {
    scenario: story({
      until: "10m30s",
      cluster: { manifests: [claim()] },
      workloads: [workload("Deployment", 1, { annotations: doNotDisrupt })],
      timeline: [deleted("10m")],
      expect: [{ count: { kind: "NodeAction", where: { "status.phase": "Running" }, is: 1 } }],
    }),
  };
}

/** A drain is held while one leader follows another. */
function takenOver(): Story {
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      workloads: [workload("Deployment", 1, { annotations: doNotDisrupt })],
      timeline: [deleted("10m"), { at: "20m", do: { crash: {} } }],
      expect: [{ count: { kind: "NodeAction", where: { "spec.epoch": "2" }, is: 1 } }],
    }),
  };
}

function heldByOthers(): Story {
  const finalizers = ["karpenter.sh/termination", "example.org/audit"];
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      timeline: [
        { at: "9m", do: { patch: { kind: "Node", selector: "", merge: { metadata: { finalizers } } } } },
        deleted("10m"),
      ],
      expect: [{ count: { kind: "Node", is: 1 } }, { count: { kind: "NodeClaim", is: 1 } }],
    }),
  };
}

/** A person's drain is held by a budget; the node's sickness, once it is due, gives it an end. */
function sickInDrain(): Story {
  const sick = { "fettle.dev/simulate": "NetworkUnavailable=True" };
  return {
    scenario: story({
      cluster: { manifests: [claim()], nodes: [{ name: "stranger", count: 6 }] },
      workloads: [
        workload("Deployment", 1, { annotations: doNotDisrupt, affinity: onlyOurs }),
        budget("deployment", 0),
      ],
      timeline: [deleted("10m"), { at: "15m", do: { annotate: { kind: "Node", selector: ours, annotations: sick } } }],
      expect: [
        { at: "44m", count: { kind: "Node", selector: ours, is: 1 } },
        { at: "50m", count: { kind: "Node", selector: ours, is: 0 } },
      ],
    }),
  };
}

/** Everything is seen half a minute late. */
function lateWatches(): Story {
  return {
    scenario: story({
      cluster: { manifests: [pool(3)] },
      workloads: [workload("Deployment", 3)],
      timeline: [
        { at: "10m", do: { watch: { fault: "Delay", delay: "30s", for: "20m" } } },
        scaled("11m", 2),
        scaled("20m", 4),
      ],
      expect: [...gone(1), { count: { kind: "NodeClaim", is: 4 } }, { journal: { has: " stale", is: 0 } }],
    }),
  };
}

const ours = "karpenter.sh/registered=true";
const onlyOurs = nodeAffinity("karpenter.sh/registered", "Exists");

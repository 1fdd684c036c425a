// Stories of what may go, how many at once, and by whose word.

import type { KubeObject } from "../../../src/api/meta.ts";
import type { Act, Entry, Expectation } from "../../../src/sim/simulation/scenario.ts";
import { budget, claim, nodeAffinity, pool, safetyPolicy, workload } from "./manifests.ts";
import { seeing } from "./change.ts";
import { deleted, gone, scaled, story, untouched, type Story } from "./story.ts";

export const limitStories = {
  "caps at once": () => scaledDown({ caps: { all: { cluster: 2 } } }),
  "caps in a window": () => scaledDown({ caps: { all: { cluster: 4, perWindow: { nodes: 3, duration: "1h" } } } }),
  "caps of a zone": () => scaledDown({ caps: { all: { cluster: 8, zone: 1 } } }),
  "a share of few": () => scaledDown({ caps: { all: { cluster: "10%" } } }, gone(6)),
  "as many as are too many": () => scaledDown({}, [{ count: { kind: "NodeAction", is: 6 } }]),
  "a freeze": () => scaledDown({ freeze: { reason: "the quarter ends" } }, untouched),
  "untouchable nodes": () => scaledDown({ untouchable: { matchLabels: { team: "blue" } } }, untouched),
  "a cap beside a drain that is held": heldBesideCap,
  "two pools and one place": onePlace,
  "replicas with pods": podsOfReplicas,
  "dry run by flag": dryRunByFlag,
  "a claim of another controller": foreign,
  "nodes of others": strangers,
  "a stranger with a claim's providerID": twin,
};

/** Eight nodes, then two, under a policy. */
function scaledDown(policy: object, expect: Expectation[] = []): Story {
  const timeline: Entry[] = [{ at: "8m", do: { apply: safetyPolicy(policy) } }, scaled("10m", 2)];
  return { scenario: story({ cluster: { manifests: [pool(8, { team: "blue" })] }, timeline, expect }) };
}

/** One of two places is taken by a node that a person deletes and a budget holds; the other is free. */
function heldBesideCap(): Story {
  return {
    scenario: story({
      cluster: { manifests: [claim(), pool(4, { team: "blue" }), safetyPolicy({ caps: { all: { cluster: 2 } } })] },
      workloads: [
        workload("Deployment", 1, { affinity: nodeAffinity("team", "DoesNotExist") }),
        budget("deployment", 0),
      ],
      timeline: [deleted("10m"), scaled("15m", 2)],
      expect: [...gone(2), { count: { kind: "NodeAction", where: { "status.phase": "Running" }, is: 1 } }],
    }),
  };
}

/**
 * The first pool's action is stored, but neither its answer nor the watch has come yet, when the second pool asks, whose
 * node has been due for longer.
 */
function onePlace(): Story {
  const first = pool(2, {}, "first");
  const slow: Act["api"] = { fault: "Slow", delay: "15s", for: "1m", verbs: ["create"], resources: ["nodeactions"] };
  return {
    scenario: story({
      cluster: { manifests: [first, safetyPolicy({ caps: { all: { cluster: 1 } } })] },
      timeline: [
        { at: "5m", do: { apply: pool(2) } },
        { at: "19m", do: { watch: { fault: "Delay", delay: "30s", for: "2m", resources: ["nodeactions"] } } },
        { at: "20m", do: { api: slow } },
        scaled("20m", 1),
        scaled("20m3s", 1, "first"),
      ],
      expect: gone(2),
    }),
  };
}

function podsOfReplicas(): Story {
  return {
    scenario: story({
      cluster: { manifests: [pool(3)] },
      workloads: [workload("Deployment", 3)],
      timeline: [scaled("10m", 2)],
      expect: gone(1),
    }),
  };
}

function dryRunByFlag(): Story {
  return {
    scenario: story({
      controller: { dryRun: true },
      cluster: { manifests: [pool(2)] },
      expect: [{ count: { kind: "NodeClaim", is: 0 } }, { journal: { has: "create-claim", atLeast: 2 } }],
    }),
  };
}

function foreign(): Story {
  const theirs = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
  const metadata = { finalizers: ["karpenter.sh/termination"] };
  return {
    scenario: story({
      cluster: { manifests: [claim(metadata, { nodeClassRef: theirs })] },
      timeline: [deleted("10m")],
      expect: [{ count: { kind: "NodeClaim", is: 1 } }],
    }),
  };
}

function strangers(): Story {
  return { scenario: story({ until: "10m", cluster: { nodes: [{ name: "stranger" }] }, expect: untouched }) };
}

/** A node of somebody else comes to have the providerID of a claim that has its node already. */
function twin(): Story {
  let providerID: unknown;
  const withProviderID = (raw: KubeObject): KubeObject => {
    const { spec, metadata } = raw as KubeObject & { spec?: { providerID?: string } };
    if (metadata.labels?.["karpenter.sh/initialized"] !== undefined) ({ providerID } = spec ?? {});
    const isTwin = metadata.name === "stranger" && metadata.labels?.["twin"] !== undefined;
    return isTwin ? { ...raw, spec: { ...spec, providerID } } : raw;
  };
  return {
    scenario: story({
      until: "30m",
      cluster: { manifests: [claim()], nodes: [{ name: "stranger" }] },
      timeline: [
        { at: "9m", do: { annotate: { kind: "Node", name: "stranger", labels: { twin: "true" } } } },
        deleted("10m"),
      ],
      expect: [
        { refusal: { code: "node-not-ours" } },
        { count: { kind: "Node", is: 2 } },
        { count: { kind: "NodeClaim", where: { "metadata.deletionTimestamp": "" }, is: 0 } },
      ],
    }),
    outside: seeing("nodes", withProviderID),
  };
}

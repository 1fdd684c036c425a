// Stories of instances: launched, lost, left over, and by a provider that is not always right.

import { withProvider } from "./change.ts";
import { claim, faultyClass, pool } from "./manifests.ts";
import { deleted, instances, nodesAt, story, untouched, type Story } from "./story.ts";

export const instanceStories = {
  "a node that recovers late": recovery,
  "an instance that does not end": hanging,
  "a launch whose answer is lost": lostLaunch,
  "an instance without a claim": stray,
  "claims that are lost": lostClaims,
  "instances that are missing": missing,
};

/** For a while the provider knows an instance no more, and its node is silent, but comes back before it is seen to. */
function recovery(): Story {
  const simulate = (text: string) => {
    return { annotate: { kind: "Node", selector: "", annotations: { "fettle.dev/simulate": text } } };
  };
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      timeline: [
        // Soon enough for the watch to be in its slow step again when it matters.
        { at: "10m", do: { watch: { fault: "Delay", delay: "30s", for: "20m", resources: ["nodes"] } } },
        { at: "20m", do: simulate("silent") },
        { at: "21m5s", do: simulate("") },
      ],
      expect: untouched,
    }),
    outside: withProvider(() => ({ get: async () => "gone", list: async () => [] })),
  };
}

function hanging(): Story {
  return {
    scenario: story({
      cluster: { manifests: [faultyClass({ kind: "HangsOnDelete" }), claim()] },
      timeline: [deleted("10m")],
      expect: [{ count: { kind: "NodeClaim", is: 1 } }, { count: { ...instances, is: 1 } }],
    }),
  };
}

function lostLaunch(): Story {
  return {
    scenario: story({
      cluster: { manifests: [claim()] },
      timeline: [{ at: "0s", do: { provider: { fault: "LostAnswer", for: "3m", calls: ["create"] } } }],
      expect: [{ at: "10m", count: { ...instances, is: 1 } }, nodesAt("10m", 1)],
    }),
  };
}

/** The answer to its launch was lost, and its claim has gone since. */
function stray(): Story {
  return {
    scenario: story({
      cluster: { manifests: [faultyClass({ kind: "NeverJoins" })] },
      timeline: [
        { at: "1m", do: { provider: { fault: "LostAnswer", for: "10m", calls: ["create"] } } },
        { at: "1m", do: { apply: claim() } },
        deleted("3m"),
      ],
      expect: [
        { at: "5m", count: { kind: "NodeClaim", is: 0 } },
        { at: "14m", count: { ...instances, is: 1 } },
        { count: { ...instances, is: 0 } },
      ],
    }),
  };
}

/** As after a restore of etcd: a claim is gone, its machine and its node are not. */
function lostClaims(): Story {
  const lost = { kind: "NodeClaim", selector: "karpenter.sh/nodepool=web", count: 1 };
  return {
    scenario: story({
      cluster: { manifests: [pool(3)] },
      timeline: [
        { at: "20m", do: { patch: { ...lost, merge: { metadata: { finalizers: null } } } } },
        { at: "20m", do: { delete: lost } },
      ],
      expect: [{ count: { ...instances, is: 4 } }],
    }),
  };
}

/** More of them than can be believed. */
function missing(): Story {
  return {
    scenario: story({
      cluster: { manifests: [pool(4)] },
      timeline: [{ at: "20m", do: { delete: { ...instances, count: 3 } } }],
      expect: [{ unharmed: { kind: "NodeClaim" } }, { refusal: { code: "too-many-missing" } }],
    }),
  };
}

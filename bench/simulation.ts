// What a simulated day costs: the production shell, kubelets, scheduler, workloads and machines on virtual time, for a
// quiet cluster of 100 nodes and one of 1,000 with churn, as `fettle simulate` plays it. Tests compare decisions with
// ones from scratch more often.
//   npm run bench -- simulation [nodes …]

import { loadavg } from "node:os";
import type { Manifest } from "../src/api/meta.ts";
import { compileLess } from "../src/cli/compile-less.ts";
import { Reflector } from "../src/kube/reflector.ts";
import { ServerClock } from "../src/kube/server-clock.ts";
import { simulatedProvider } from "../src/provider/simulated.ts";
import { simulate } from "../src/sim/simulation/run.ts";
import type { Entry, Scenario } from "../src/sim/simulation/scenario.ts";

const poolNames = ["blue", "green", "red", "white"];
const podsPerNode = 5;
const podsPerDeployment = 50;

function deployment(name: string, replicas: number): Manifest {
  const labels = { app: name };
  const resources = { requests: { cpu: "100m", memory: "128Mi" } };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "app", resources }] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

function budget(name: string): Manifest {
  const spec = { maxUnavailable: "10%", selector: { matchLabels: { app: name } } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name, namespace: "default" }, spec };
}

/** All day long: nodes that go by hand, nodes that fall silent and are mended, pods that die. */
function churn(pool: string, index: number): Entry[] {
  const selector = `karpenter.sh/nodepool=${pool}`;
  const kind = "Node";
  const sick = (word: string) => ({
    annotate: { kind, selector, count: 2, annotations: { "fettle.dev/simulate": word } },
  });
  return [
    { at: `${60 + index}m`, every: "1h", do: { delete: { kind: "NodeClaim", selector, count: 3 } } },
    { at: `${90 + index}m`, every: "2h", do: sick("silent") },
    { at: `${110 + index}m`, every: "2h", do: sick("") },
    { at: `${30 + index}m`, every: "10m", do: { delete: { kind: "Pod", selector: `app=app-${index}`, count: 5 } } },
  ];
}

function apps(nodeCount: number): string[] {
  return Array.from({ length: (nodeCount * podsPerNode) / podsPerDeployment }, (_, index) => `app-${index}`);
}

function dayOf(nodeCount: number): Scenario {
  const replicas = nodeCount / poolNames.length;
  const pools = poolNames.map(name => ({
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { replicas },
  }));
  return {
    title: `A day of ${nodeCount} nodes`,
    until: "24h",
    cluster: { manifests: pools },
    workloads: apps(nodeCount).flatMap(name => [deployment(name, podsPerDeployment), budget(name)]),
    timeline: nodeCount >= 1_000 ? poolNames.flatMap(churn) : [],
  };
}

// As `fettle simulate` does.
compileLess("brief");
const sizes = process.argv.slice(2).map(Number);
const rows = [];
for (const nodeCount of sizes.length > 0 ? sizes : [100, 1_000]) {
  const usedBefore = process.cpuUsage();
  const startedAt = performance.now();
  const { journal, verdict, counts } = await simulate(dayOf(nodeCount), {
    feed: outside => options => new Reflector({ ...outside, ...options }),
    provider: simulatedProvider,
    dates: clock => new ServerClock(clock),
    verifyEvery: "in proportion",
  });
  const { user, system } = process.cpuUsage(usedBefore);
  rows.push({
    nodes: nodeCount,
    pods: nodeCount * podsPerNode,
    "CPU s": Number(((user + system) / 1e6).toFixed(2)),
    "wall s": Number(((performance.now() - startedAt) / 1000).toFixed(2)),
    turns: counts.turns,
    "lines of the journal": journal.length,
    verdict: verdict.ok ? "holds" : verdict.problems.join("; "),
  });
}
console.log(`A simulated day; load ${loadavg()[0]?.toFixed(1)}`);
console.table(rows);

// What is played in both worlds. Each returns the state in which it ends, as far as the two can be compared.

import type { KubeObject, Resource } from "../../../src/api/meta.ts";
import { ApiError } from "../../../src/api/status.ts";
import { conditionOf, isReady, isTrue } from "../../../src/sim/world/conditions.ts";
import type { DaemonSet, Deployment, Job, Node, Pod, StatefulSet } from "../../../src/sim/world/objects.ts";
import {
  daemonSetResource,
  deploymentResource,
  jobResource,
  nodeResource,
  podResource,
  replicaSetResource,
  statefulSetResource,
} from "../../../src/sim/world/resources.ts";
import { shown } from "./shown.ts";
import type { Stage } from "./side.ts";

export type Scenario = { title: string; name: string; play: (stage: Stage) => Promise<unknown> };

const budgetResource: Resource = {
  group: "policy",
  version: "v1",
  plural: "poddisruptionbudgets",
  kind: "PodDisruptionBudget",
  namespaced: true,
};

const container = { name: "main", image: "none", resources: { requests: { cpu: "100m", memory: "64Mi" } } };
const selector = (app: string) => ({ matchLabels: { app } });
const impatient = ["not-ready", "unreachable"].map(name => ({
  key: `node.kubernetes.io/${name}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 3,
}));

function template({ name }: Stage, app: string, spec: object = {}, annotations: Record<string, string> = {}) {
  return {
    metadata: { labels: { app }, annotations },
    spec: { nodeSelector: { stage: name }, containers: [container], ...spec },
  };
}

async function joined(stage: Stage, ...nodes: string[]): Promise<void> {
  for (const node of nodes) stage.join(node);
  await stage.settled<Node>(nodeResource, nodes.length, node => isReady(node) && (node.spec.taints ?? []).length === 0);
}

const isRolledOut = ({ metadata, spec, status }: Deployment) =>
  status.observedGeneration === metadata.generation &&
  status.updatedReplicas === spec.replicas &&
  status.replicas === spec.replicas &&
  status.availableReplicas === spec.replicas &&
  (status.terminatingReplicas ?? 0) === 0;

const isUp = (pod: Pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined;

async function deploy(stage: Stage, replicas: number, spec: object = {}): Promise<void> {
  await stage.create(deploymentResource, {
    metadata: { name: "web" },
    spec: {
      replicas,
      selector: selector("web"),
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: "25%" } },
      template: template(stage, "web", spec),
    },
  });
  await stage.settled<Deployment>(deploymentResource, 1, isRolledOut);
}

export const scenarios: readonly Scenario[] = [
  {
    title: "a deployment rolls out, is rolled to another template and scaled",
    name: "rolls",
    async play(stage) {
      await joined(stage, "a", "b");
      await deploy(stage, 4);
      await stage.patch(deploymentResource, "web", { spec: { template: { metadata: { labels: { version: "2" } } } } });
      await stage.settled<Deployment>(deploymentResource, 1, isRolledOut);
      await stage.patch(deploymentResource, "web", { spec: { replicas: 6 } });
      await stage.settled<Deployment>(deploymentResource, 1, isRolledOut);
      await stage.settled<Pod>(podResource, 6, isUp);
      return shown(stage, [deploymentResource, replicaSetResource, podResource]);
    },
  },
  {
    title: "a daemon set runs on tainted nodes only where it tolerates the taint",
    name: "daemons",
    async play(stage) {
      stage.join("tainted", { taints: [{ key: "dedicated", effect: "NoSchedule" }] });
      stage.join("plain");
      await stage.settled<Node>(nodeResource, 2, isReady);
      const everywhere = { tolerations: [{ operator: "Exists" }] };
      for (const [name, spec] of [
        ["shy", {}],
        ["bold", everywhere],
      ] as const) {
        const daemon = { selector: selector(name), template: template(stage, name, spec) };
        await stage.create(daemonSetResource, { metadata: { name }, spec: daemon });
      }
      const isDone = ({ metadata, status }: DaemonSet) =>
        status.numberAvailable === (metadata.name === "bold" ? 2 : 1) &&
        status.numberAvailable === status.desiredNumberScheduled;
      await stage.settled<DaemonSet>(daemonSetResource, 2, isDone);
      await stage.settled<Pod>(podResource, 3, isUp);
      return shown(stage, [daemonSetResource, podResource]);
    },
  },
  {
    title: "a node dies: unknown, tainted, its pods evicted and replaced; it comes back",
    name: "dies",
    async play(stage) {
      await joined(stage, "a", "b", "c");
      const daemon = { selector: selector("agent"), template: template(stage, "agent") };
      await stage.create(daemonSetResource, { metadata: { name: "agent" }, spec: daemon });
      await stage.settled<Pod>(podResource, 3, isUp);
      await deploy(stage, 3, { tolerations: impatient, affinity: apart("web") });
      stage.side.kubelets.halt(stage.nodeName("a"));
      // Its pod cannot be confirmed gone, and its successor has no node left to run on.
      const isHung = ({ metadata, spec }: Pod) =>
        metadata.labels?.app === "agent" ||
        !spec.nodeName ||
        spec.nodeName !== stage.nodeName("a") ||
        metadata.deletionTimestamp !== undefined;
      await stage.settled<Pod>(podResource, 7, isHung);
      const isWaiting = (pod: Pod) =>
        Boolean(pod.spec.nodeName) || conditionOf(pod, "PodScheduled")?.status === "False";
      await stage.settled<Pod>(podResource, 7, isWaiting);
      // It hears of its pods after we do.
      const hasCounted = ({ status }: Deployment) =>
        status.replicas === 3 && status.availableReplicas === 2 && status.terminatingReplicas === 1;
      await stage.settled<Deployment>(deploymentResource, 1, hasCounted);
      // What a daemon set counts on a dead node depends on which of two controllers was faster.
      const dead = await shown(stage, [nodeResource, podResource, deploymentResource]);
      stage.side.kubelets.resume(stage.nodeName("a"));
      await stage.settled<Pod>(podResource, 6, isUp);
      await stage.settled<Node>(nodeResource, 3, node => (node.spec.taints ?? []).length === 0);
      await stage.settled<DaemonSet>(daemonSetResource, 1, ({ status }) => status.numberAvailable === 3);
      await stage.settled<Deployment>(deploymentResource, 1, isRolledOut);
      return { dead, back: await shown(stage, [nodeResource, podResource, daemonSetResource, deploymentResource]) };
    },
  },
  {
    title: "a node's object goes and its machine with it: its pods are collected",
    name: "vanishes",
    async play(stage) {
      await joined(stage, "a", "b");
      await deploy(stage, 2, { affinity: apart("web") });
      stage.side.kubelets.leave(stage.nodeName("a"));
      await stage.side.settle(stage.side.api.delete(nodeResource, { name: stage.nodeName("a") }));
      const waits = (pod: Pod) => conditionOf(pod, "PodScheduled")?.status === "False";
      await stage.side.until("the successor of the lost pod", async () => {
        const pods = await stage.list<Pod>(podResource);
        return pods.length === 2 && pods.filter(waits).length === 1 && pods.filter(isUp).length === 1
          ? pods
          : undefined;
      });
      return shown(stage, [nodeResource, podResource]);
    },
  },
  {
    title: "a disruption budget grants one eviction and refuses the next",
    name: "budget",
    async play(stage) {
      await joined(stage, "a", "b");
      await stage.create(budgetResource, {
        metadata: { name: "web" },
        spec: { minAvailable: 2, selector: selector("web") },
      });
      await deploy(stage, 3);
      // Three pods and no fourth that is going: a budget of a number counts that one too until it is gone.
      const isCounted = ({ status }: KubeObject) => {
        const { disruptionsAllowed, expectedPods } = status as { disruptionsAllowed?: number; expectedPods?: number };
        return disruptionsAllowed === 1 && expectedPods === 3;
      };
      await stage.settled(budgetResource, 1, isCounted);
      const [first, second] = await stage.list<Pod>(podResource);
      const answers = [await evict(stage, first?.metadata.name), await evict(stage, second?.metadata.name)];
      await stage.settled<Pod>(podResource, 3, isUp);
      await stage.settled(budgetResource, 1, isCounted);
      return { answers, ...(await shown(stage, [budgetResource, podResource])) };
    },
  },
  {
    title: "jobs complete, and give up when too many pods fail",
    name: "jobs",
    async play(stage) {
      await joined(stage, "a");
      const job = (name: string, spec: object, word: string) =>
        stage.create(jobResource, {
          metadata: { name },
          spec: {
            ...spec,
            template: template(stage, name, { restartPolicy: "Never" }, { "fettle.dev/simulate": word }),
          },
        });
      await job("good", { completions: 3, parallelism: 2 }, "succeed=2s");
      await job("bad", { backoffLimit: 1 }, "fail=1s");
      await stage.settled<Job>(jobResource, 2, one => isTrue(one, "Complete") || isTrue(one, "Failed"));
      await stage.settled<Pod>(podResource, 5, ({ metadata }) => (metadata.finalizers ?? []).length === 0);
      return shown(stage, [jobResource, podResource]);
    },
  },
  {
    title: "a stateful set grows, rolls and shrinks in order",
    name: "ordered",
    async play(stage) {
      await joined(stage, "a", "b");
      const spec = { replicas: 3, serviceName: "db", selector: selector("db"), template: template(stage, "db") };
      await stage.create(statefulSetResource, { metadata: { name: "db" }, spec });
      await stage.settled<Pod>(podResource, 3, isUp);
      await stage.patch(statefulSetResource, "db", { spec: { template: { metadata: { labels: { version: "2" } } } } });
      const isRolled = ({ status, spec }: StatefulSet) =>
        status.currentRevision === status.updateRevision &&
        status.updatedReplicas === spec.replicas &&
        status.availableReplicas === spec.replicas &&
        status.replicas === spec.replicas;
      await stage.settled<Pod>(podResource, 3, pod => isUp(pod) && pod.metadata.labels?.version === "2");
      await stage.settled<StatefulSet>(statefulSetResource, 1, isRolled);
      await stage.patch(statefulSetResource, "db", { spec: { replicas: 1 } });
      await stage.settled<Pod>(podResource, 1, isUp);
      await stage.settled<StatefulSet>(statefulSetResource, 1, isRolled);
      const names = (await stage.list<Pod>(podResource)).map(({ metadata }) => metadata.name);
      return { names, ...(await shown(stage, [statefulSetResource, podResource])) };
    },
  },
  {
    title: "pods that fit nowhere wait and say why",
    name: "waits",
    async play(stage) {
      await joined(stage, "a", "b");
      const large = { ...container, resources: { requests: { cpu: "3" } } };
      const unknownZone = { nodeSelector: { stage: stage.name, zone: "nowhere" } };
      const pods = { large: { containers: [large] }, lost: unknownZone, refused: { tolerations: [] } };
      await stage.patch(nodeResource, stage.nodeName("b"), { spec: { unschedulable: true } });
      await stage.side.until("the taint of the cordon", async () => {
        const nodes = await stage.list<Node>(nodeResource);
        return nodes.some(({ spec }) => (spec.taints ?? []).length > 0) ? nodes : undefined;
      });
      for (const [name, spec] of Object.entries(pods)) {
        await stage.create(podResource, { metadata: { name }, spec: template(stage, name, spec).spec });
      }
      const isJudged = (pod: Pod) => isUp(pod) || conditionOf(pod, "PodScheduled")?.status === "False";
      await stage.settled<Pod>(podResource, 3, isJudged);
      const judged = (await stage.list<Pod>(podResource)).map(pod => {
        // All nodes of the cluster are counted, and the other scenarios have theirs.
        const reasons = (conditionOf(pod, "PodScheduled")?.message ?? "").replaceAll(/\d+/g, "N").split(". ")[0];
        const isStable = pod.metadata.name === "lost";
        return { name: pod.metadata.name, phase: pod.status.phase, reasons: isStable ? "" : Boolean(reasons) };
      });
      return { judged, ...(await shown(stage, [nodeResource])) };
    },
  },
  {
    title: "a person makes a node sick with one annotation, and well again",
    name: "sick",
    async play(stage) {
      await joined(stage, "a", "b");
      const simulate = (word: string | null) =>
        stage.patch(nodeResource, stage.nodeName("a"), { metadata: { annotations: { "fettle.dev/simulate": word } } });
      await simulate("Ready=False, MemoryPressure=True, KernelDeadlock=True");
      const taintCount = (count: number) => async () => {
        const nodes = await stage.list<Node>(nodeResource);
        return nodes.reduce((sum, { spec }) => sum + (spec.taints?.length ?? 0), 0) === count ? nodes : undefined;
      };
      await stage.side.until("the taints", taintCount(3));
      const sick = await shown(stage, [nodeResource]);
      await simulate(null);
      await stage.side.until("no taints", taintCount(0));
      return { sick, well: await shown(stage, [nodeResource]) };
    },
  },
];

function apart(app: string) {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: selector(app) };
  return { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
}

async function evict({ side, name: namespace }: Stage, name = ""): Promise<number> {
  const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
  try {
    await side.settle(side.api.create(podResource, { name, namespace }, body, { subresource: "eviction" }));
    return 201;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

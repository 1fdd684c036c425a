// Rolls a Deployment's ReplicaSets to its template: one for each template it has had, numbered by revision. How many
// replicas each gets is decided in rolling-update.ts.

import type { Manifest } from "../../api/meta.ts";
import { deepEqual } from "../json-value.ts";
import { deploymentStatus, progressWakeAt } from "./deployment-status.ts";
import { type Deployment, isDeleting, isActive, ownedBy, type PodTemplate, type ReplicaSet } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { canonical, templateHash } from "./pod-template.ts";
import { fencePosts, newReplicas, proportional, replicasOf, type Scaling, shrunk } from "./rolling-update.ts";
import { type ControllerOptions, controllerWorker } from "./workload-controller.ts";
import type { Worker } from "./worker.ts";

const hashLabel = "pod-template-hash";
const revision = "deployment.kubernetes.io/revision";
const desiredReplicas = "deployment.kubernetes.io/desired-replicas";
const maxReplicas = "deployment.kubernetes.io/max-replicas";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function deploymentController(picture: Picture, options: ControllerOptions = {}): Worker {
  const { deployments, replicaSets } = picture;
  const sync = (owner: Deployment) => syncDeployment(picture, owner);
  const worker = controllerWorker(
    picture,
    { kind: "Deployment", owners: deployments, dependents: [replicaSets], sync, isSaidAtOnce: true },
    options,
  );
  // To recreate, the last old pod must be gone, and no replica set changes when it is.
  picture.pods.onChange(({ object, isGone }) => {
    const [reference] = isGone ? (object.metadata.ownerReferences ?? []) : [];
    const { namespace } = object.metadata;
    const owner = reference && picture.replicaSets.get(`${namespace}/${reference.name}`)?.metadata.ownerReferences?.[0];
    const key = `${namespace}/${owner?.name}`;
    if (deployments.get(key)?.spec.strategy.type === "Recreate") worker.add(key);
  });
  return worker;
}

async function syncDeployment(picture: Picture, deployment: Deployment): Promise<number | undefined> {
  const all = picture.replicaSetsByController.of(deployment.metadata.uid);
  if (isDeleting(deployment)) return writeStatus(picture, deployment, undefined);
  const isHeld = deployment.spec.paused === true;
  const existing = all.find(replicaSet => isFrom(replicaSet, deployment.spec.template));
  if (isHeld || isResized(deployment, all)) {
    await apply(picture, deployment, proportional(deployment, existing, old(all, existing)));
    return writeStatus(picture, deployment, existing);
  }
  const current = await newest(picture, deployment, all);
  const rest = () => old(picture.replicaSetsByController.of(deployment.metadata.uid), current);
  if (deployment.spec.strategy.type === "Recreate") await recreate(picture, deployment, current, rest());
  else await roll(picture, deployment, current, rest());
  await cleanUp(picture, deployment, rest());
  return writeStatus(picture, deployment, current);
}

function old(all: readonly ReplicaSet[], current: ReplicaSet | undefined): ReplicaSet[] {
  return all.filter(({ metadata }) => metadata.uid !== current?.metadata.uid);
}

/** Up first, and in the same look never down as well: what was just asked for is not there yet. */
async function roll(picture: Picture, deployment: Deployment, current: ReplicaSet, rest: ReplicaSet[]): Promise<void> {
  const wanted = newReplicas(deployment, current, rest);
  const scaled = wanted === replicasOf(current) ? [] : [{ replicaSet: current, replicas: wanted }];
  await apply(picture, deployment, scaled.length > 0 ? scaled : shrunk(deployment, current, rest));
}

async function recreate(
  picture: Picture,
  deployment: Deployment,
  current: ReplicaSet,
  rest: ReplicaSet[],
): Promise<void> {
  const active = rest.filter(replicaSet => replicasOf(replicaSet) > 0);
  await apply(
    picture,
    deployment,
    active.map(replicaSet => ({ replicaSet, replicas: 0 })),
  );
  const isStillRunning = rest.some(({ metadata }) =>
    picture.podsByController.of(metadata.uid).some(pod => isActive(pod) || isDeleting(pod)),
  );
  if (active.length > 0 || isStillRunning) return;
  await apply(picture, deployment, [{ replicaSet: current, replicas: deployment.spec.replicas ?? 1 }]);
}

async function apply({ replicaSets }: Picture, deployment: Deployment, scalings: readonly Scaling[]): Promise<void> {
  const annotations = scaleAnnotations(deployment);
  for (const { replicaSet, replicas } of scalings) {
    const kept = replicaSet.metadata.annotations ?? {};
    const isNoted = Object.entries(annotations).every(([key, value]) => kept[key] === value);
    if (isNoted && replicasOf(replicaSet) === replicas) continue;
    await replicaSets.patch(replicaSet, { type: "merge", body: { metadata: { annotations }, spec: { replicas } } });
  }
}

function scaleAnnotations(deployment: Deployment): Record<string, string> {
  const replicas = deployment.spec.replicas ?? 1;
  const { surge } = fencePosts(deployment);
  return { [desiredReplicas]: String(replicas), [maxReplicas]: String(replicas + surge) };
}

/** Somebody changed the number of replicas since the replica sets were last told. */
function isResized({ spec }: Deployment, all: readonly ReplicaSet[]): boolean {
  return all.some(replicaSet => {
    const told = replicaSet.metadata.annotations?.[desiredReplicas];
    return replicasOf(replicaSet) > 0 && told !== undefined && told !== String(spec.replicas ?? 1);
  });
}

async function newest(picture: Picture, deployment: Deployment, all: readonly ReplicaSet[]): Promise<ReplicaSet> {
  const { replicaSets, deployments } = picture;
  const existing = all.find(replicaSet => isFrom(replicaSet, deployment.spec.template));
  const highest = Math.max(0, ...old(all, existing).map(revisionOf));
  const number = Math.max(highest + 1, existing ? revisionOf(existing) : 0);
  const annotations = { ...copied(deployment), [revision]: String(number), ...scaleAnnotations(deployment) };
  const current = existing ?? (await replicaSets.create(made(deployment, all, annotations)));
  if (existing && revisionOf(existing) !== number) {
    await replicaSets.patch(existing, { type: "merge", body: { metadata: { annotations } } });
  }
  if (deployment.metadata.annotations?.[revision] !== String(number)) {
    const body = { metadata: { annotations: { [revision]: String(number) } } };
    // With the status, as kube-controller-manager does it: elsewhere an annotation counts as something newly wanted.
    await deployments.patch(deployment, { type: "merge", body }, { subresource: "status" });
  }
  return picture.replicaSets.get(`${current.metadata.namespace}/${current.metadata.name}`) ?? current;
}

function made(deployment: Deployment, all: readonly ReplicaSet[], annotations: Record<string, string>): Manifest {
  const { metadata, spec } = deployment;
  const { template, selector, minReadySeconds } = spec;
  const hash = templateHash(template, deployment.status.collisionCount);
  const labels = { ...template.metadata?.labels, [hashLabel]: hash };
  const empty = { spec: { replicas: 0 } } as ReplicaSet;
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${metadata.name}-${hash}`,
      namespace: metadata.namespace ?? "default",
      labels,
      annotations,
      ...ownedBy(deployment),
    },
    spec: {
      replicas: newReplicas(deployment, empty, all),
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  };
}

function copied({ metadata }: Deployment): Record<string, string> {
  const skipped = new Set([lastApplied, revision, desiredReplicas, maxReplicas]);
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !skipped.has(key)));
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revision] ?? 0) || 0;
}

/** The same template, but for the label that tells the replica sets apart. */
export function isFrom({ spec }: ReplicaSet, template: PodTemplate): boolean {
  const { [hashLabel]: _, ...labels } = spec.template.metadata?.labels ?? {};
  const own: PodTemplate = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
  const asked = { ...template, metadata: { ...template.metadata, labels: { ...template.metadata?.labels } } };
  return deepEqual(own, asked) || canonical(own) === canonical(asked);
}

async function cleanUp({ replicaSets }: Picture, { spec }: Deployment, rest: readonly ReplicaSet[]): Promise<void> {
  const idle = rest.filter(({ spec, status, metadata }) => {
    return (spec.replicas ?? 1) === 0 && status.replicas === 0 && status.observedGeneration === metadata.generation;
  });
  const excess = rest.length - (spec.revisionHistoryLimit ?? 10);
  const oldestFirst = idle.filter(one => !isDeleting(one)).sort((a, b) => revisionOf(a) - revisionOf(b));
  for (const replicaSet of oldestFirst.slice(0, Math.max(0, excess))) await replicaSets.delete(replicaSet);
}

async function writeStatus(
  picture: Picture,
  before: Deployment,
  current: ReplicaSet | undefined,
): Promise<number | undefined> {
  const { deployments, replicaSetsByController, clock } = picture;
  const { metadata } = before;
  const deployment = deployments.get(`${metadata.namespace}/${metadata.name}`) ?? before;
  const all = replicaSetsByController.of(metadata.uid);
  const now = clock.now();
  const latest = current && all.find(one => one.metadata.uid === current.metadata.uid);
  const status = deploymentStatus(deployment, { all, current: latest ?? current }, now);
  if (!deepEqual(status, deployment.status)) await deployments.updateStatus(deployment, status);
  return progressWakeAt(deployment, status, now);
}

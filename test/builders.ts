// Views and pictures for tests of rules: everything is well unless a test says otherwise. A claim and a node of the same
// name belong together.

import { type EffectiveNodeClaim, effectiveNodeClaim, effectiveNodePool } from "../src/api/effective-node-pool.ts";
import { effectiveSafetyPolicy } from "../src/api/effective-safety-policy.ts";
import type { NodeActionSpec, NodeActionStatus, Phase } from "../src/api/node-action.ts";
import { nodePoolKey, zoneKey } from "../src/api/node.ts";
import type { NodePoolSpec } from "../src/api/node-pool.ts";
import type { SafetyPolicySpec } from "../src/api/safety-policy.ts";
import { type LabelSelector, selectorOf } from "../src/api/selector.ts";
import { formatTime, type Instant, parseDuration } from "../src/api/time.ts";
import { initializedKey, registeredKey, terminationFinalizer, terminationTimestampKey } from "../src/api/well-known.ts";
import { ClusterPicture } from "../src/snapshot/cluster-picture.ts";
import type { FailureView, NodeClassRef, ProviderView, Staleness } from "../src/snapshot/picture.ts";
import type {
  ActionView,
  AttachmentView,
  ClaimView,
  ConditionView,
  DisruptionBudgetView,
  InstanceListView,
  InstanceView,
  MetaView,
  NodeView,
  PodView,
  PoolView,
  SafetyView,
  VolumeClaimView,
} from "../src/snapshot/views.ts";

/** When everything that says nothing else began. */
export const t0: Instant = Date.parse("2026-01-01T00:00:00Z");

/** An instant after `t0`: at("30m"). */
export function at(after: string): Instant {
  const duration = parseDuration(after);
  if (!duration.ok) throw new Error(duration.error);
  return t0 + duration.value;
}

export const aClassRef: NodeClassRef = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };

export function aCondition(type: string, status: string, more: Partial<ConditionView> = {}): ConditionView {
  return { type, status, reason: more.reason ?? type, message: "", since: t0, ...more };
}

function aMeta(name: string): MetaView {
  const uid = `${name}-uid`;
  return { name, uid, resourceVersion: "1", createdAt: t0, labels: {}, annotations: {}, finalizers: [] };
}

type NodeOptions = Partial<NodeView> & {
  /** Status of the condition Ready, and since when. */
  ready?: "True" | "False" | "Unknown";
  since?: Instant;
  zone?: string;
  pool?: string;
};

/** Registered, initialized and Ready; `providerID: ""` for one without. */
export function aNode(name: string, options: NodeOptions = {}): NodeView {
  const { ready = "True", since = t0, zone, pool, providerID = providerIDOf(name), labels, ...views } = options;
  const place = {
    ...(zone === undefined ? {} : { [zoneKey]: zone }),
    ...(pool === undefined ? {} : { [nodePoolKey]: pool }),
  };
  return {
    ...aMeta(name),
    finalizers: [terminationFinalizer],
    labels: { [registeredKey]: "true", [initializedKey]: "true", ...place, ...labels },
    ...(providerID === "" ? {} : { providerID }),
    conditions: [aCondition("Ready", ready, { since })],
    taints: [],
    isCordoned: false,
    bootID: `${name}-boot`,
    capacity: { cpu: "4", memory: "8Gi", pods: "110" },
    allocatable: { cpu: "4", memory: "8Gi", pods: "110" },
    owners: [],
    ...views,
  };
}

/** How far a claim has come. */
export type Stage = "new" | "launched" | "registered" | "initialized";
const stages: readonly Stage[] = ["new", "launched", "registered", "initialized"];
const conditionTypes = ["Launched", "Registered", "Initialized"] as const;

type ClaimOptions = Partial<Omit<ClaimView, "spec">> & { stage?: Stage; spec?: Partial<EffectiveNodeClaim> };

export function aClaim(name: string, options: ClaimOptions = {}): ClaimView {
  const { stage = "initialized", pool, zone, spec, status, labels, annotations, terminationAt, ...views } = options;
  const reached = stages.indexOf(stage);
  const { providerID = reached >= 1 ? providerIDOf(name) : "" } = options;
  const reachedTypes = conditionTypes.filter((_, index) => index < reached);
  const conditions = [...reachedTypes, ...(reached === 3 ? ["Ready"] : [])].map(type => aCondition(type, "True"));
  const ofPool = pool === undefined ? {} : { [nodePoolKey]: pool };
  const ofZone = zone === undefined ? {} : { [zoneKey]: zone };
  const deadline = terminationAt === undefined ? {} : { [terminationTimestampKey]: formatTime(terminationAt) };
  const { providerID: _, ...rest } = views;
  return {
    ...aMeta(name),
    uid: `${name}-claim-uid`,
    finalizers: [terminationFinalizer],
    labels: { ...ofPool, ...ofZone, ...labels },
    annotations: { ...deadline, ...annotations },
    generation: 1,
    owners: [],
    spec: { ...effectiveNodeClaim({}), ...spec },
    status: {
      ...(providerID === "" ? {} : { providerID }),
      ...(reached >= 2 ? { nodeName: name } : {}),
      conditions: conditions.map(written),
      ...status,
    },
    conditions,
    ...(pool === undefined ? {} : { pool }),
    ...(zone === undefined ? {} : { zone }),
    ...(providerID === "" ? {} : { providerID }),
    ...(terminationAt === undefined ? {} : { terminationAt }),
    ...rest,
  };
}

function written({ type, status, reason, message, since = t0 }: ConditionView) {
  return {
    type,
    status: status as "True" | "False" | "Unknown",
    reason,
    message,
    lastTransitionTime: formatTime(since),
  };
}

function providerIDOf(name: string): string {
  return `test:///${name}`;
}

/** Running and ready on the node that is named. */
export function aPod(name: string, options: Partial<PodView> & { on?: string } = {}): PodView {
  const { on, ...views } = options;
  return {
    namespace: "default",
    name,
    uid: `${options.namespace ?? "default"}-${name}-uid`,
    ...(on === undefined ? {} : { nodeName: on }),
    createdAt: t0,
    startedAt: t0,
    graceMs: 30_000,
    phase: "Running",
    isReady: true,
    tier: "workload",
    isStatic: false,
    toleratesDisruption: false,
    labels: { app: name },
    ownerKind: "ReplicaSet",
    volumeClaims: [],
    ...views,
  };
}

export function aPool(name: string, options: Partial<PoolView> & { spec?: NodePoolSpec } = {}): PoolView {
  const { spec = {}, ...views } = options;
  return {
    ...aMeta(name),
    uid: `${name}-pool-uid`,
    generation: 1,
    written: spec,
    effective: effectiveNodePool(spec),
    status: {},
    conditions: [],
    ...views,
  };
}

type ActionOptions = {
  node?: string | NodeView;
  phase?: Phase;
  spec?: Partial<NodeActionSpec>;
  status?: Partial<NodeActionStatus>;
} & Partial<Omit<ActionView, "spec" | "status">>;

/** A person's delete of the node `a` with its claim, running, unless the test says otherwise. */
export function anAction(name: string, options: ActionOptions = {}): ActionView {
  const { node = "a", phase = "Running", spec, status, ...views } = options;
  const target = typeof node === "string" ? { name: node, uid: `${node}-uid` } : { name: node.name, uid: node.uid };
  return {
    ...aMeta(name),
    uid: `${name}-action-uid`,
    spec: {
      node: target,
      claim: { name: target.name, uid: `${target.name}-claim-uid` },
      action: "Deletion",
      method: "Terminate",
      askedBy: { kind: "Person", name: "unknown" },
      message: "somebody deleted the claim",
      evidence: [{ kind: "DeletionTimestamp", seenAt: formatTime(t0) }],
      decidedAt: formatTime(t0),
      epoch: 1,
      ...spec,
    },
    status: { phase, ...status },
    ...views,
  };
}

/** Over the pods with the label app=<name>, and as a rule none of them may go. */
export function aBudget(
  name: string,
  options: Partial<Omit<DisruptionBudgetView, "selector">> & { selector?: LabelSelector } = {},
): DisruptionBudgetView {
  const { selector = { matchLabels: { app: name } }, ...views } = options;
  const parsed = selectorOf(selector);
  if (!parsed.ok) throw new Error(parsed.error);
  return {
    namespace: "default",
    name,
    uid: `${name}-budget-uid`,
    selector: parsed.value,
    disruptionsAllowed: 0,
    evictsUnhealthyAlways: false,
    isObserved: true,
    ...views,
  };
}

export function anAttachment(name: string, options: Partial<AttachmentView> & { on: string }): AttachmentView {
  const { on, ...views } = options;
  return { name, uid: `${name}-attachment-uid`, nodeName: on, volume: name, ...views };
}

export function aSafetyPolicy(spec: SafetyPolicySpec = {}, options: Partial<SafetyView> = {}): SafetyView {
  return { meta: { ...aMeta("default"), generation: 1 }, policy: effectiveSafetyPolicy(spec), ...options };
}

/** Serves SimulatedNodeClass, whose `default` is ready, and has nothing to sell. */
export function aProvider(options: Partial<ProviderView> = {}): ProviderView {
  return {
    name: "test",
    serves: ({ group, kind }) => group === aClassRef.group && kind === aClassRef.kind,
    defaultClass: aClassRef,
    nodeClass: () => ({ state: "Ready", generation: 1 }),
    instanceTypes: () => [],
    repairStatements: [],
    ...options,
  };
}

export type WorldOptions = {
  nodes?: readonly NodeView[];
  claims?: readonly ClaimView[];
  pods?: readonly PodView[];
  pools?: readonly PoolView[];
  actions?: readonly ActionView[];
  budgets?: readonly DisruptionBudgetView[];
  attachments?: readonly AttachmentView[];
  volumeClaims?: readonly VolumeClaimView[];
  safety?: SafetyView;
  provider?: ProviderView;
  instances?: readonly InstanceView[];
  instanceList?: InstanceListView;
  /** By lane. */
  failures?: Readonly<Record<string, FailureView>>;
  staleness?: Staleness;
  /** By whose clock changes are seen. */
  now?: () => Instant;
};

/** Of a process that has watched from the beginning, and by whose clock it is later now. */
export function aPicture(provider: ProviderView = aProvider(), now = () => t0): ClusterPicture {
  let hasBegun = false;
  const picture = new ClusterPicture(provider, { now: () => (hasBegun ? now() : t0) });
  hasBegun = true;
  return picture;
}

export function aWorld(options: WorldOptions = {}): ClusterPicture {
  const picture = aPicture(options.provider, options.now);
  for (const pool of options.pools ?? []) picture.put("pool", pool);
  for (const claim of options.claims ?? []) picture.put("claim", claim);
  for (const node of options.nodes ?? []) picture.put("node", node);
  for (const pod of options.pods ?? []) picture.put("pod", pod);
  for (const action of options.actions ?? []) picture.put("action", action);
  for (const budget of options.budgets ?? []) picture.put("disruption-budget", budget);
  for (const attachment of options.attachments ?? []) picture.put("attachment", attachment);
  for (const volumeClaim of options.volumeClaims ?? []) picture.put("volume-claim", volumeClaim);
  if (options.safety !== undefined) picture.put("safety-policy", options.safety);
  for (const instance of options.instances ?? []) picture.setInstance(instance);
  if (options.instanceList !== undefined) picture.setInstanceList(options.instanceList);
  for (const [lane, failure] of Object.entries(options.failures ?? {})) picture.setFailure(lane, failure);
  if (options.staleness !== undefined) picture.setStaleness(options.staleness);
  picture.takeDirty();
  return picture;
}

// Health checks and what they work with, kept up to date change by change: which nodes each check selects and which of
// them are not healthy is judged again only for what has changed. Tells who must be looked at again; decides nothing.

import type { Resource } from "../api/meta.ts";
import type { TemplateReference } from "../api/node-health-check.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { matches } from "../api/selector.ts";
import { EndedRemediations } from "./ended-remediations.ts";
import type { CheckPicture } from "./check-picture.ts";
import {
  type CheckView,
  keyOfKind,
  keyOfObject,
  type KindName,
  type KindState,
  type MachineChecksView,
  type NodeLeaseView,
  type RemediationView,
  type TemplateView,
  type TopologyView,
  type UpgradeView,
} from "./check-views.ts";
import { Grouped, Ordered } from "./ordered.ts";
import { noMachineChecks, noTopology, noUpgrade } from "./project-openshift.ts";
import type { Subject } from "./picture.ts";
import type { Change } from "./tables.ts";
import type { ActionView, NodeView } from "./views.ts";

export class CheckIndex implements CheckPicture {
  readonly #checks = new Ordered<CheckView>();
  readonly #nodes = new Ordered<NodeView>();
  /** By check name: node name → node. */
  readonly #selected = new Grouped<NodeView>();
  readonly #notHealthy = new Grouped<NodeView>();
  readonly #checksByNode = new Grouped<string>();
  readonly #remediations = new Ordered<RemediationView>();
  /** By check uid and node. */
  readonly #remediationsByNode = new Grouped<RemediationView>();
  readonly #remediationsByCheck = new Grouped<RemediationView>();
  readonly #remediatedNodes = new Grouped<string>();
  /** Of those, the ones that are not there; and by node who has remediated it. */
  readonly #remediatedAndGone = new Grouped<string>();
  readonly #checkUidsByNode = new Grouped<string>();
  /** Those that are ours to carry out, by node. */
  readonly #own = new Grouped<RemediationView>();
  readonly #controlPlane = new Ordered<RemediationView>();
  readonly #ended = new EndedRemediations();
  readonly #templates = new Grouped<TemplateView>();
  readonly #kinds = new Map<string, KindState>();
  readonly #leases = new Map<string, NodeLeaseView>();
  #upgrade: UpgradeView = noUpgrade;
  #machineChecks: MachineChecksView = noMachineChecks;
  #topology: TopologyView = noTopology;
  #machines: Resource | undefined;
  #isListed = false;
  #hadDefault: boolean | undefined;
  #dirty = new Set<Subject>();

  get isListed(): boolean {
    return this.#isListed;
  }
  get upgrade(): UpgradeView {
    return this.#upgrade;
  }
  get machineChecks(): MachineChecksView {
    return this.#machineChecks;
  }
  get topology(): TopologyView {
    return this.#topology;
  }
  get machines(): Resource | undefined {
    return this.#machines;
  }
  get hadDefault(): boolean | undefined {
    return this.#hadDefault;
  }
  check(name: string): CheckView | undefined {
    return this.#checks.get(name);
  }
  all(): readonly CheckView[] {
    return this.#checks.values();
  }
  concerning(nodeName: string): readonly CheckView[] {
    return this.#checksByNode.of(nodeName).flatMap(name => this.check(name) ?? []);
  }
  selects({ name }: CheckView, nodeName: string): boolean {
    return this.#selected.get(name, nodeName) !== undefined;
  }
  selected({ name }: CheckView): readonly NodeView[] {
    return this.#selected.of(name);
  }
  selectedCount({ name }: CheckView): number {
    return this.#selected.count(name);
  }
  notHealthy({ name }: CheckView): readonly NodeView[] {
    return this.#notHealthy.of(name);
  }
  notHealthyCount({ name }: CheckView): number {
    return this.#notHealthy.count(name);
  }
  remediationsOf({ uid }: CheckView, nodeName: string): readonly RemediationView[] {
    return this.#remediationsByNode.of(`${uid} ${nodeName}`);
  }
  remediationsBy({ uid }: CheckView): readonly RemediationView[] {
    return this.#remediationsByCheck.of(uid);
  }
  remediatedNodes({ uid }: CheckView): readonly string[] {
    return this.#remediatedNodes.of(uid);
  }
  remediatedAndGoneCount({ uid }: CheckView): number {
    return this.#remediatedAndGone.count(uid);
  }
  remediation(object: KindName & { readonly namespace?: string; readonly name: string }): RemediationView | undefined {
    return this.#remediations.get(keyOfObject(object));
  }
  ownRemediations(nodeName: string): readonly RemediationView[] {
    return this.#own.of(nodeName);
  }
  /** Nodes that may be gone and yet have a remediation of ours to be looked after. */
  nodesOfOwn(): readonly string[] {
    return [...new Set([...this.#own.all()].map(({ nodeName }) => nodeName))].sort();
  }
  controlPlaneRemediations(): readonly RemediationView[] {
    return this.#controlPlane.values();
  }
  ended({ uid }: CheckView): readonly ActionView[] {
    return this.#ended.of(uid);
  }
  template({ namespace = "", ...reference }: TemplateReference): TemplateView | undefined {
    const kind = this.kind(reference);
    // One that is written for a kind that has none is ignored, as by medik8s' own controller.
    const isNowhere = kind.state === "Served" && !kind.resource.namespaced;
    const key = keyOfObject({ ...reference, namespace: isNowhere ? "" : namespace });
    return this.#templates.get(keyOfKind(reference), key);
  }
  templates(kind: KindName): readonly TemplateView[] {
    return this.#templates.of(keyOfKind(kind));
  }
  kind(kind: KindName): KindState {
    return this.#kinds.get(keyOfKind(kind)) ?? { state: "Listing" };
  }
  lease(nodeName: string): NodeLeaseView | undefined {
    return this.#leases.get(nodeName);
  }

  /** All that the other has, but nodes and actions, which come by themselves. */
  adopt(other: CheckIndex): void {
    for (const [key, state] of other.#kinds) this.#kinds.set(key, state);
    for (const after of other.#templates.all()) this.replaceTemplate({ before: undefined, after });
    for (const after of other.all()) this.replaceCheck({ before: undefined, after });
    for (const after of other.#remediations.values()) this.replaceRemediation({ before: undefined, after });
    for (const [nodeName, lease] of other.#leases) this.replaceLease(nodeName, lease);
    this.#upgrade = other.#upgrade;
    this.#machineChecks = other.#machineChecks;
    this.#topology = other.#topology;
    this.#machines = other.#machines;
    this.#isListed = other.#isListed;
    this.#hadDefault = other.#hadDefault;
  }

  get isDirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Who must be looked at again since the last call. A changed node is looked at anyway. */
  takeDirty(): ReadonlySet<Subject> {
    const dirty = this.#dirty;
    this.#dirty = new Set();
    return dirty;
  }

  replaceCheck({ before, after }: Change<CheckView>): void {
    const name = (after ?? before)?.name ?? "";
    if (after === undefined) this.#checks.delete(name);
    else this.#checks.set(name, after);
    this.#mark(`check/${name}`);
    if (before?.uid === after?.uid && isEqual(policyOf(before), policyOf(after))) return;
    this.#mark("cluster");
    for (const node of this.#nodes.values()) this.#judge(name, node.name, { before: node, after: node });
    if (after !== undefined) for (const node of this.remediatedNodes(after)) this.#judge(name, node, unchanged);
    this.#markNodesOf(name, before?.uid);
    this.#markNodesOf(name, after?.uid);
  }

  replaceNode(change: Change<NodeView>): void {
    const { before, after } = change;
    const name = (after ?? before)?.name ?? "";
    if (after === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, after);
    for (const uid of this.#checkUidsByNode.of(name)) this.#noteGone(uid, name);
    for (const check of this.all()) this.#judge(check.name, name, change);
  }

  replaceAction(change: Change<ActionView>): void {
    for (const uid of this.#ended.replace(change)) {
      for (const { name, uid: found } of this.all()) if (found === uid) this.#mark(`check/${name}`, "cluster");
    }
    // The time of a step runs from the start of what is done for it.
    const { askedBy } = (change.after ?? change.before)?.spec ?? {};
    const isNews = change.before?.status.startedAt !== change.after?.status.startedAt || change.after === undefined;
    if (askedBy?.kind === "NodeHealthCheck" && isNews && this.check(askedBy.name)?.uid === askedBy.uid) {
      this.#mark(`check/${askedBy.name}`);
    }
  }

  replaceRemediation({ before, after }: Change<RemediationView>): void {
    const view = after ?? before;
    if (view === undefined) return;
    const key = keyOfObject(view);
    if (after === undefined) this.#remediations.delete(key);
    else this.#remediations.set(key, after);
    if (after?.isOfControlPlane) this.#controlPlane.set(key, after);
    else this.#controlPlane.delete(key);
    const ownNode = (one: RemediationView | undefined) => (one?.own === undefined ? undefined : one.nodeName);
    this.#own.move(key, { from: ownNode(before), to: ownNode(after), value: after });
    this.#remediationsByNode.move(key, { from: groupOf(before), to: groupOf(after), value: after });
    this.#remediationsByCheck.move(key, { from: before?.checkUid, to: after?.checkUid, value: after });
    for (const one of [before, after]) if (one !== undefined) this.#countRemediated(one);
    this.#mark("cluster");
    for (const { name, nodeName, checkUid } of [before, after].flatMap(one => one ?? [])) {
      // Whatever node it is for: it takes its name from the remediation of another one.
      this.#mark(`node/${nodeName}`, `node/${name}`);
      for (const check of this.all()) {
        if (check.uid !== checkUid) continue;
        // Its status tells of it, also when the node itself is gone.
        this.#mark(`check/${check.name}`);
        this.#judge(check.name, nodeName, unchanged);
      }
    }
  }

  replaceTemplate({ before, after }: Change<TemplateView>): void {
    const view = after ?? before;
    if (view === undefined) return;
    const kind = keyOfKind(view);
    this.#templates.move(keyOfObject(view), { from: kind, to: kind, value: after });
    this.#markUsersOf(view);
  }

  replaceLease(nodeName: string, lease: NodeLeaseView | undefined): void {
    if (lease === undefined) this.#leases.delete(nodeName);
    else this.#leases.set(nodeName, lease);
    this.#mark(`node/${nodeName}`);
  }

  setKind(kind: KindName, state: KindState): void {
    this.#kinds.set(keyOfKind(kind), state);
    this.#markUsersOf(kind);
    for (const name of this.nodesOfOwn()) this.#mark(`node/${name}`);
  }

  setUpgrade(upgrade: UpgradeView): void {
    this.#upgrade = upgrade;
    for (const { name } of this.all()) this.#mark(`check/${name}`, "cluster");
  }

  setMachineChecks(machineChecks: MachineChecksView): void {
    this.#machineChecks = machineChecks;
    this.#markAll();
  }

  setTopology(topology: TopologyView): void {
    this.#topology = topology;
    this.#markAll();
  }

  setMachines(machines: Resource | undefined): void {
    if (isEqual(machines, this.#machines)) return;
    this.#machines = machines;
    for (const name of this.nodesOfOwn()) this.#mark(`node/${name}`);
  }

  setListed(): void {
    this.#isListed = true;
    this.#mark("cluster");
  }

  setHadDefault(hadDefault: boolean): void {
    this.#hadDefault = hadDefault;
    this.#mark("cluster");
  }

  /** Of what is not healthy, or was remediated, more may be remembered now than stands here, though it looks the same. */
  seen(nodeName: string): void {
    for (const check of this.concerning(nodeName)) {
      const isToldOf = this.#notHealthy.get(check.name, nodeName) ?? this.remediationsOf(check, nodeName)[0];
      if (isToldOf !== undefined) this.#mark(`check/${check.name}`);
    }
  }

  /** The node as it stands to the check. */
  #judge(checkName: string, nodeName: string, { before, after: seen }: Change<NodeView>): void {
    const check = this.check(checkName);
    const node = this.#nodes.get(nodeName);
    const wasSelected = this.#selected.get(checkName, nodeName);
    const wasNotHealthy = this.#notHealthy.get(checkName, nodeName);
    const isSelected = check !== undefined && node !== undefined && isSelectedBy(check, node);
    const hasRemediation = check !== undefined && this.remediationsOf(check, nodeName).length > 0;
    const isNotHealthy = isSelected && (hasRemediation || isMatched(check, node));
    this.#selected.move(nodeName, { from: checkName, to: checkName, value: isSelected ? node : undefined });
    this.#notHealthy.move(nodeName, { from: checkName, to: checkName, value: isNotHealthy ? node : undefined });
    const concerns = isSelected || hasRemediation ? checkName : undefined;
    this.#checksByNode.move(checkName, { from: nodeName, to: nodeName, value: concerns });
    const isCountedOtherwise =
      (wasSelected !== undefined) !== isSelected || (wasNotHealthy !== undefined) !== isNotHealthy;
    if (isCountedOtherwise) this.#mark(`check/${checkName}`, `node/${nodeName}`, "cluster");
    else if (isNotHealthy || hasRemediation) this.#mark(`check/${checkName}`);
    // A node that has become Ready may be the successor of one that was taken away.
    else if (check !== undefined && this.ended(check).length > 0 && isReady(before) !== isReady(seen)) {
      this.#mark(`check/${checkName}`, "cluster");
    }
  }

  #countRemediated({ checkUid, nodeName }: RemediationView): void {
    if (checkUid === undefined) return;
    const count = this.#remediationsByNode.count(`${checkUid} ${nodeName}`);
    const value = count > 0 ? nodeName : undefined;
    this.#remediatedNodes.move(nodeName, { from: checkUid, to: checkUid, value });
    this.#checkUidsByNode.move(checkUid, { from: nodeName, to: nodeName, value: value && checkUid });
    this.#noteGone(checkUid, nodeName);
  }

  #noteGone(checkUid: string, nodeName: string): void {
    const isGone = this.#nodes.get(nodeName) === undefined;
    const value = isGone ? this.#remediatedNodes.get(checkUid, nodeName) : undefined;
    this.#remediatedAndGone.move(nodeName, { from: checkUid, to: checkUid, value });
  }

  #markUsersOf(kind: KindName): void {
    for (const check of this.all()) {
      const uses = check.steps.some(({ template }) => isOfKind(kind, template));
      if (!uses) continue;
      this.#mark(`check/${check.name}`, "cluster");
      this.#markNodesOf(check.name, check.uid);
    }
    this.#mark("cluster");
  }

  #markAll(): void {
    for (const { name, uid } of this.all()) {
      this.#mark(`check/${name}`, "cluster");
      this.#markNodesOf(name, uid);
    }
  }

  #markNodesOf(checkName: string, uid: string | undefined): void {
    for (const { name } of this.#notHealthy.of(checkName)) this.#mark(`node/${name}`);
    for (const name of this.#remediatedNodes.of(uid)) this.#mark(`node/${name}`);
  }

  #mark(...subjects: readonly Subject[]): void {
    for (const subject of subjects) this.#dirty.add(subject);
  }
}

const unchanged = { before: undefined, after: undefined };

/** What of a check decides on its nodes: not its status, which we write ourselves, but the storm that is written there. */
function policyOf(check: CheckView | undefined): unknown {
  if (check === undefined) return undefined;
  const { uid, generation, deletingSince, invalid, conditions } = check;
  const storms = conditions.filter(({ type }) => type.startsWith("Storm")).map(({ status, since }) => [status, since]);
  return { uid, generation, deletingSince, invalid, storms };
}

function isSelectedBy({ selector }: CheckView, { labels }: NodeView): boolean {
  return selector !== undefined && matches(selector, labels);
}

function isMatched({ pairs }: CheckView, { conditions }: NodeView): boolean {
  return pairs.some(pair => conditions.some(({ type, status }) => type === pair.type && status === pair.status));
}

function isReady(node: NodeView | undefined): boolean {
  return node?.conditions.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function groupOf(remediation: RemediationView | undefined): string | undefined {
  return remediation?.checkUid === undefined ? undefined : `${remediation.checkUid} ${remediation.nodeName}`;
}

function isOfKind({ apiVersion, kind }: KindName, template: TemplateReference): boolean {
  const isTemplate = kind === template.kind;
  return apiVersion === template.apiVersion && (isTemplate || `${kind}Template` === template.kind);
}

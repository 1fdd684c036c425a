// Worlds for tests of health checks: everything is served and well unless a test says otherwise.

import { aNode, anAction, at, aWorld, t0, type WorldOptions } from "./builders.ts";
import type { Manifest, Resource } from "../src/api/meta.ts";
import type { NodeHealthCheckSpec, NodeHealthCheckStatus } from "../src/api/node-health-check.ts";
import { leaseHolder } from "../src/api/node-health-check-contract.ts";
import { formatTime, type Instant } from "../src/api/time.ts";
import type { CheckIndex } from "../src/snapshot/check-index.ts";
import type {
  CheckView,
  KindState,
  NodeLeaseView,
  RemediationView,
  TemplateView,
  UpgradeView,
} from "../src/snapshot/check-views.ts";
import { projectCheck, projectRemediation } from "../src/snapshot/project-check.ts";
import type { ActionView, NodeView } from "../src/snapshot/views.ts";
import type { Context, Decision, RemediationCommand } from "../src/decide/decision.ts";
import { remediationVeto } from "../src/decide/health-check/holds.ts";
import { decideCheckedNode } from "../src/decide/health-check/node.ts";

const group = "test.example.org";
export const apiVersion = `${group}/v1`;

export function templateRef(name = "fence", kind = "FenceRemediationTemplate") {
  return { apiVersion, kind, name, namespace: "fencing" };
}

type CheckOptions = {
  readonly spec?: NodeHealthCheckSpec;
  readonly status?: NodeHealthCheckStatus;
  readonly generation?: number;
  readonly deletingSince?: Instant;
};

/** Over all nodes, at most half of them, 5 minutes of Ready=False or Unknown, by the template fence. */
export function aCheck(
  name: string,
  { spec = {}, status, generation = 1, deletingSince }: CheckOptions = {},
): CheckView {
  const hasSteps = spec.escalatingRemediations !== undefined;
  const raw = {
    apiVersion: "remediation.medik8s.io/v1alpha1",
    kind: "NodeHealthCheck",
    metadata: { name, uid: `${name}-check-uid`, resourceVersion: "1", creationTimestamp: formatTime(t0), generation },
    spec: {
      ...("minHealthy" in spec ? {} : { maxUnhealthy: "50%" }),
      ...(hasSteps ? {} : { remediationTemplate: templateRef() }),
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
  return { ...projectCheck(raw, undefined), ...(deletingSince === undefined ? {} : { deletingSince }) };
}

export function aTemplate(name = "fence", options: Partial<TemplateView> = {}): TemplateView {
  const { kind = "FenceRemediationTemplate" } = options;
  return {
    apiVersion,
    kind,
    namespace: "fencing",
    name,
    uid: `${kind}-${name}-uid`,
    body: { strategy: name },
    supportsMultiple: false,
    isDefault: false,
    ...options,
  };
}

type RemediationOptions = Partial<RemediationView> & { readonly of?: CheckView; readonly on: string };

export function aRemediation({ of, on, ...views }: RemediationOptions): RemediationView {
  const { name = on, kind = "FenceRemediation" } = views;
  return {
    apiVersion,
    kind,
    namespace: "fencing",
    name,
    uid: `${kind}-${name}-uid`,
    resourceVersion: "1",
    createdAt: t0,
    finalizers: [],
    nodeName: on,
    isOfControlPlane: false,
    takesNodeAway: false,
    templateName: "fence",
    ...(of === undefined ? {} : { checkUid: of.uid, owner: `NodeHealthCheck ${of.name}`, madeUnder: of.madeUnder }),
    ...views,
  };
}

export function aLease(
  nodeName: string,
  options: Partial<NodeLeaseView> & { readonly of?: string } = {},
): NodeLeaseView {
  const { of = "web", ...views } = options;
  return {
    nodeName,
    uid: `${nodeName}-lease-uid`,
    resourceVersion: "1",
    holder: leaseHolder(of),
    durationMs: 660_000,
    renewedAt: at("1h"),
    ...views,
  };
}

export function served(kind: string): KindState {
  return { state: "Served", resource: resourceOf(kind) };
}

export function resourceOf(kind: string): Resource {
  return { group, version: "v1", kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

export type CheckWorld = Omit<WorldOptions, "now"> & {
  readonly checks?: readonly CheckView[];
  readonly templates?: readonly TemplateView[];
  readonly remediations?: readonly RemediationView[];
  readonly leases?: readonly NodeLeaseView[];
  readonly kinds?: Readonly<Record<string, KindState>>;
  readonly upgrade?: UpgradeView;
  readonly settings?: Partial<Context["settings"]>;
  readonly now?: Instant;
  readonly epoch?: number;
};

const usualKinds = ["Fence", "Reboot", "Wipe"].flatMap(name => [`${name}Remediation`, `${name}RemediationTemplate`]);

/** An hour after everything began. */
export function aCheckContext(world: CheckWorld): Context & { readonly checks: CheckIndex } {
  const { now, ...rest } = world;
  const picture = aWorld(rest);
  const { checks } = picture;
  for (const kind of usualKinds) checks.setKind({ apiVersion, kind }, served(kind));
  for (const [kind, state] of Object.entries(world.kinds ?? {})) checks.setKind({ apiVersion, kind }, state);
  for (const template of world.templates ?? [aTemplate()])
    checks.replaceTemplate({ before: undefined, after: template });
  for (const check of world.checks ?? []) checks.replaceCheck({ before: undefined, after: check });
  for (const one of world.remediations ?? []) checks.replaceRemediation({ before: undefined, after: one });
  for (const lease of world.leases ?? []) checks.replaceLease(lease.nodeName, lease);
  if (world.upgrade !== undefined) checks.setUpgrade(world.upgrade);
  checks.setListed();
  picture.takeDirty();
  return {
    picture,
    checks,
    now: now ?? at("1h"),
    settings: { cluster: "test", dryRun: false, foreignClaims: "ignore", ...world.settings },
    epoch: world.epoch ?? 1,
  };
}

/** Nodes n0, n1 …, the first of them with Ready=False since t0. */
export function someNodes(count: number, sick: number, more: Parameters<typeof aNode>[1] = {}): readonly NodeView[] {
  return Array.from({ length: count }, (_, index) =>
    aNode(`n${index}`, { ready: index < sick ? "False" : "True", ...more }),
  );
}

/** What the API server makes of a manifest that a command creates. */
export function created(manifest: Manifest, createdAt: Instant): RemediationView {
  const metadata = {
    ...manifest.metadata,
    name: manifest.metadata.name ?? "",
    uid: `${manifest.kind}-${manifest.metadata.name}-uid`,
    resourceVersion: "1",
    creationTimestamp: formatTime(createdAt),
  };
  return projectRemediation({ ...manifest, metadata }, undefined);
}

export function commandsOf<K extends RemediationCommand["kind"]>(
  decision: { readonly commands: readonly { readonly kind: string }[] },
  kind: K,
): readonly Extract<RemediationCommand, { kind: K }>[] {
  return decision.commands.filter(command => command.kind === kind) as Extract<RemediationCommand, { kind: K }>[];
}

/** The ledger's entry for the remediation of n0, not begun. */
export function remediating(check: CheckView, more: Parameters<typeof anAction>[1] = {}): ActionView {
  return anAction("remediation-n0", {
    node: "n0",
    phase: "Pending",
    ...more,
    spec: {
      action: "Remediation",
      method: "Remediate",
      askedBy: { kind: "NodeHealthCheck", name: check.name, uid: check.uid },
      ...more.spec,
    },
  });
}

/** The same, begun. */
/** Its first step has begun. */
export function running(check: CheckView): ActionView {
  const startedAt = formatTime(t0);
  return remediating(check, { phase: "Running", status: { startedAt, steps: [{ name: "remediation-1", startedAt }] } });
}

export const web = aCheck("web");

/** What is decided about a node by the check web, over three nodes of which n0 is sick, unless the world says otherwise. */
export function decideOn(world: CheckWorld, node = "n0"): Decision {
  const context = aCheckContext({ checks: [web], nodes: someNodes(3, 1), ...world });
  return decideCheckedNode(node, { ...context, vetoes: [remediationVeto(context)] });
}

export function codesOn(world: CheckWorld, node = "n0"): readonly string[] {
  return decideOn(world, node).refusals.map(({ code }) => code);
}

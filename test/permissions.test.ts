// The rights that `fettle install` prints against what the program does: every call of a controller that lives through
// all of it is allowed, and every right is used by some call.

import { expect, test } from "vitest";
import { apiVersionOf, type Resource } from "../src/api/meta.ts";
import { nodeActions } from "../src/api/node-action.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePoolKey } from "../src/api/node.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { rebootRemediationTemplates } from "../src/api/remediation.ts";
import { safetyPolicies } from "../src/api/safety-policy.ts";
import { simulatedNamespace } from "../src/api/simulated-instance.ts";
import { workerKey } from "../src/api/node-health-check-contract.ts";
import { leading } from "../src/cli/leadership.ts";
import { defaultCheckMark, type Permission, type Permissions, permissions } from "../src/cli/permissions.ts";
import { RivalWatch } from "../src/cli/rival.ts";
import { controllers } from "../src/decide/decision.ts";
import { defaultCheckName } from "../src/decide/health-check/default-check.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { disruptionBudgets as budgets, nodes as nodeResource } from "../src/control/resources.ts";
import { deploymentResource, namespaceResource, podResource } from "../src/sim/world/resources.ts";
import { ControlledBox } from "./controlled-box.ts";

type Call = {
  verb: string;
  group: string;
  resource: string;
  namespace?: string | undefined;
  name?: string | undefined;
};

/** Every call as an API server's authorizer would see it. */
function recorded(api: KubeApi, calls: Map<string, Call>): KubeApi {
  const note = (
    verb: string,
    { group, plural }: Resource,
    at: Partial<Call> & { subresource?: string | undefined },
  ) => {
    const resource = at.subresource === undefined ? plural : `${plural}/${at.subresource}`;
    const call = { verb, group, resource, namespace: at.namespace, name: at.name };
    calls.set(JSON.stringify(call), call);
  };
  return {
    get: (resource, key, options) => {
      note("get", resource, { ...key, ...options });
      return api.get(resource, key, options);
    },
    list: (resource, options) => {
      // An authorizer takes the name from the field selector.
      const [, name] = /^metadata\.name=(.+)$/.exec(options?.fieldSelector ?? "") ?? [];
      note("list", resource, { namespace: options?.namespace, name });
      return api.list(resource, options);
    },
    watch: (resource, options, handlers) => {
      note("watch", resource, { namespace: options.namespace });
      if (options.sendInitialEvents) note("list", resource, { namespace: options.namespace });
      return api.watch(resource, options, handlers);
    },
    create: (resource, key, object, options) => {
      note("create", resource, { namespace: key.namespace, subresource: options?.subresource });
      return api.create(resource, key, object, options);
    },
    update: (resource, key, object, options) => {
      note("update", resource, { ...key, subresource: options?.subresource });
      return api.update(resource, key, object, options);
    },
    patch: (resource, key, patch, options) => {
      note("patch", resource, { ...key, subresource: options?.subresource });
      return api.patch(resource, key, patch, options);
    },
    delete: (resource, key, options) => {
      note("delete", resource, key);
      return api.delete(resource, key, options);
    },
    deleteCollection: (resource, selection, options) => {
      note("deletecollection", resource, { namespace: selection.namespace });
      return api.deleteCollection(resource, selection, options);
    },
  };
}

const allows = ({ group, resource, verbs, name }: Permission, call: Call) =>
  group === call.group && resource === call.resource && verbs.includes(call.verb) && (name ?? call.name) === call.name;

const inForce = ({ cluster, byNamespace }: Permissions, { namespace }: Call): readonly Permission[] => [
  ...cluster,
  ...(namespace === undefined ? [] : (byNamespace.get(namespace) ?? [])),
];

const flags = {
  leaderElect: true,
  leaderElectLeaseDuration: 15_000,
  leaderElectRenewDeadline: 10_000,
  leaderElectRetryPeriod: 2_000,
  leaderElectResourceName: "fettle",
  leaderElectResourceNamespace: "kube-system",
};

/** A pool up and down, a drain that is held through a change of leaders, deaths by force, a ledger that is cleared. */
async function everything(): Promise<readonly Call[]> {
  const calls = new Map<string, Call>();
  const box = new ControlledBox();
  const api = recorded(box.api, calls);
  const { clock } = box;
  const elect = async () => {
    const lead = await leading(flags, { api, clock, lost: () => {} });
    const mark = { name: defaultCheckMark, namespace: flags.leaderElectResourceNamespace };
    const settings = {
      cluster: "box",
      dryRun: false,
      foreignClaims: "ignore",
      defaultCheck: { isWanted: true, mark },
    } as const;
    const all = new Set(controllers);
    return { lead, controller: box.start({ api, leadership: lead.leadership, settings, controllers: all }) };
  };
  // As fettle install has made it.
  await box.create(namespaceResource, { metadata: { name: simulatedNamespace } });
  const rivals = await box.settle(RivalWatch.start({ api, clock }));
  const first = await elect();
  await settle(box);
  await box.patch(nodePools.resource, "web", { spec: { replicas: 2 } });
  await box.run(300);

  const [doomed] = await box.list(nodeClaims.resource);
  const { name = "" } = doomed?.metadata ?? {};
  await box.patch(budgets, "web", { spec: { maxUnavailable: 0 } });
  await box.delete(nodeClaims.resource, name);
  await box.run(600);
  await box.settle(first.controller.stop());
  await box.settle(first.lead.stop());
  const second = await elect();
  await box.run(60);
  const past = { "karpenter.sh/nodeclaim-termination-timestamp": "2026-01-01T00:00:00Z" };
  await box.patch(nodeClaims.resource, name, { metadata: { annotations: past } });
  await box.run(300);
  await remediate(box);
  await finishLongAgo(box);
  await box.run(60);
  await box.settle(second.lead.stop());
  rivals.stop();
  return [...calls.values()];
}

/** Two of the workers that the check by default looks after fall silent: the first is replaced, the other rebooted. */
async function remediate(box: ControlledBox): Promise<void> {
  const nodes = (await box.list(nodeResource)).map(({ metadata }) => metadata.name);
  for (const name of nodes) await box.patch(nodeResource, name, { metadata: { labels: { [workerKey]: "" } } });
  const [first = "", second = ""] = nodes;
  const silent = { metadata: { annotations: { "fettle.dev/simulate": "silent" } } };
  await box.patch(nodeResource, first, silent);
  // One node of so few an hour, says the SafetyPolicy.
  await box.run(4500);
  const { resource } = rebootRemediationTemplates;
  await box.create(resource, { metadata: { name: "reboot" }, spec: { template: {} } });
  const remediationTemplate = { apiVersion: apiVersionOf(resource), kind: resource.kind, name: "reboot" };
  await box.patch(nodeHealthChecks.resource, defaultCheckName, { spec: { remediationTemplate, maxUnhealthy: 2 } });
  await box.patch(nodeResource, second, silent);
  await box.run(1200);
}

/** Three nodes with pods under a budget, and a policy. */
async function settle(box: ControlledBox): Promise<void> {
  await box.create(nodePools.resource, {
    metadata: { name: "web" },
    spec: { replicas: 3, repair: { mode: "Disabled" } },
  });
  await box.create(safetyPolicies.resource, { metadata: { name: "default" }, spec: {} });
  const selector = { matchLabels: { app: "web" } };
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web" }] } };
  await box.create(deploymentResource, { metadata: { name: "web" }, spec: { replicas: 6, selector, template } });
  await box.create(budgets, { metadata: { name: "web" }, spec: { maxUnavailable: 2, selector } });
  await box.create(nodePools.resource, { metadata: { name: "dense" }, spec: { podPlacement: "Planned" } });
  const alone = { nodeSelector: { [nodePoolKey]: "dense" }, containers: [{ name: "alone", image: "alone" }] };
  await box.create(podResource, { metadata: { name: "alone" }, spec: alone });
  await box.run(300);
}

/** A finished action that is older than the week for which they are kept. */
async function finishLongAgo(box: ControlledBox): Promise<void> {
  const { resource } = nodeActions;
  const [finished] = await box.list(resource);
  const { name = "" } = finished?.metadata ?? {};
  const body = { status: { finishedAt: "2025-12-01T00:00:00Z" } };
  await box.settle(box.api.patch(resource, { name }, { type: "merge", body }, { subresource: "status" }));
}

/** Rights that no call of this story needs, each with who does. */
const unseen: Readonly<Record<string, string>> = {
  " events patch": "an Event that is said again, which is counted in the one that is there",
  "karpenter.sh nodeclaims get": "a claim that was made by hand, or before a restart, and is launched",
  "karpenter.sh nodeclaims/finalizers update": "admission, where a node's owner blocks its own deletion",
  "karpenter.sh nodepools/finalizers update": "admission, where a claim's owner blocks its own deletion",
  "authorization.k8s.io selfsubjectaccessreviews create": "a check by a remediation of another's kind",
  "config.openshift.io clusterversions list": "a cluster of OpenShift",
  "config.openshift.io clusterversions watch": "a cluster of OpenShift",
  "config.openshift.io infrastructures list": "a cluster of OpenShift",
  "config.openshift.io infrastructures watch": "a cluster of OpenShift",
  "machine.openshift.io machinehealthchecks list": "a cluster of OpenShift",
  "machine.openshift.io machinehealthchecks watch": "a cluster of OpenShift",
  "machine.openshift.io machines get": "a cluster of OpenShift",
  "coordination.k8s.io leases patch": "a remediation that takes longer than half of its lease on the node",
};

test("every call is allowed by the roles, and every right is used", async () => {
  const calls = await everything();
  const granted = permissions("simulated");
  const forbidden = calls.filter(call => !inForce(granted, call).some(permission => allows(permission, call)));
  expect(forbidden).toEqual([]);

  const all = [...granted.cluster, ...[...granted.byNamespace.values()].flat()];
  const unused = all.flatMap(permission =>
    permission.verbs
      .filter(verb => !calls.some(call => call.verb === verb && allows(permission, call)))
      .map(verb => `${permission.group} ${permission.resource} ${verb}`),
  );
  expect(unused).toEqual(Object.keys(unseen));
});

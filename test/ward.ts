// A ward for tests of health checks: nodes of a pool that does not repair, on virtual time, with the controller over them
// and a remediator of another group, FenceRemediation, that the test plays itself.

import type { KubeObject, Resource } from "../src/api/meta.ts";
import { type NodeAction, nodeActions } from "../src/api/node-action.ts";
import { type NodeHealthCheck, nodeHealthChecks } from "../src/api/node-health-check.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { safetyPolicies } from "../src/api/safety-policy.ts";
import type { Controller, ControllerOptions } from "../src/control/controller.ts";
import { definitions } from "../src/control/definitions.ts";
import { leases, nodes } from "../src/control/resources.ts";
import { controllers } from "../src/decide/decision.ts";
import { ControlledBox } from "./controlled-box.ts";
import { definitionOf } from "./definition-of.ts";

export const fenceGroup = "fence.example.org";
export const fences: Resource = {
  group: fenceGroup,
  version: "v1",
  plural: "fenceremediations",
  kind: "FenceRemediation",
  namespaced: true,
};
export const fenceTemplates: Resource = {
  ...fences,
  plural: "fenceremediationtemplates",
  kind: "FenceRemediationTemplate",
};

type Fence = KubeObject & { spec?: { by?: string } };
type Status = NonNullable<NodeHealthCheck["status"]>;
type Options = Partial<ControllerOptions> & { readonly box?: ControlledBox };

export class Ward {
  readonly box: ControlledBox;
  readonly controller: Controller;

  constructor({ box = new ControlledBox(), ...options }: Options = {}) {
    this.box = box;
    this.controller = box.start({ controllers: new Set(controllers), ...options });
  }

  async open(replicas = 6): Promise<void> {
    const { box } = this;
    await box.create(nodePools.resource, {
      metadata: { name: "web" },
      spec: { replicas, repair: { mode: "Disabled" } },
    });
    for (const kind of [fences, fenceTemplates]) await box.create(definitions, definitionOf(kind));
    await box.run(300);
    await this.template("reset");
  }

  /** No cap, no settling and no common cause: for tests of what the checks themselves say. */
  async unbounded(): Promise<void> {
    const repair = { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } };
    const spec = { caps: { repair }, correlatedFailure: { mode: "Disabled" }, settle: { quiet: "0s" } };
    await this.box.create(safetyPolicies.resource, { metadata: { name: "default" }, spec });
  }

  async template(name: string, annotations = {}): Promise<void> {
    await this.box.create(fenceTemplates, {
      metadata: { name, annotations },
      spec: { template: { spec: { by: name } } },
    });
  }

  /** Of all nodes, by the template reset, unless the spec says otherwise. */
  async check(spec: object = {}, name = "web"): Promise<void> {
    const by = "escalatingRemediations" in spec ? {} : { remediationTemplate: templateOf("reset") };
    await this.box.create(nodeHealthChecks.resource, { metadata: { name }, spec: { ...by, ...spec } });
    await this.box.run(5);
  }

  async edit(spec: object, name = "web"): Promise<void> {
    await this.box.patch(nodeHealthChecks.resource, name, { spec });
  }

  async status(name = "web"): Promise<Status> {
    const found = await this.box.list<NodeHealthCheck & KubeObject>(nodeHealthChecks.resource);
    return found.find(({ metadata }) => metadata.name === name)?.status ?? {};
  }

  async condition(type: string, name = "web") {
    return (await this.status(name)).conditions?.find(condition => condition.type === type);
  }

  async nodeNames(): Promise<string[]> {
    return (await this.box.list(nodes)).map(({ metadata }) => metadata.name);
  }

  /** The first ones, in the order of names; they count as Unknown 50 s later. */
  async silence(count = 1): Promise<string[]> {
    const found = (await this.nodeNames()).slice(0, count);
    for (const name of found) await this.simulate(name, "silent");
    return found;
  }

  simulate(nodeName: string, what: string | null): Promise<void> {
    return this.annotate(nodeName, { "fettle.dev/simulate": what });
  }

  annotate(nodeName: string, annotations: Record<string, string | null>): Promise<void> {
    return this.box.patch(nodes, nodeName, { metadata: { annotations } });
  }

  label(nodeName: string, labels: Record<string, string | null>): Promise<void> {
    return this.box.patch(nodes, nodeName, { metadata: { labels } });
  }

  fences(): Promise<Fence[]> {
    return this.box.list<Fence>(fences);
  }

  /** The names of the nodes that are fenced, and by what. */
  async fenced(): Promise<string[]> {
    const found = (await this.fences()).map(({ metadata, spec }) => {
      const node = metadata.annotations?.["remediation.medik8s.io/node-name"] ?? metadata.name;
      return `${node} ${spec?.by}`;
    });
    return found.sort();
  }

  /** As whoever serves the kind says it on the object. */
  async say(fenceName: string, ...conditions: readonly { type: string; status: string }[]): Promise<void> {
    const said = conditions.map(condition => ({ reason: "Said", message: "By the fence.", ...condition }));
    const body = { type: "merge", body: { status: { conditions: said } } } as const;
    const key = { name: fenceName, namespace: "default" };
    await this.box.settle(this.box.api.patch(fences, key, body, { subresource: "status" }));
  }

  hold(fenceName: string, finalizers: readonly string[] | null): Promise<void> {
    return this.box.patch(fences, fenceName, { metadata: { finalizers } });
  }

  async nodeLeases(): Promise<KubeObject[]> {
    return (await this.box.list(leases)).filter(({ metadata }) => metadata.namespace === "medik8s-leases");
  }

  actions(): Promise<(NodeAction & KubeObject)[]> {
    return this.box.list<NodeAction & KubeObject>(nodeActions.resource);
  }

  codes(nodeName: string): string[] {
    return this.controller.refusals(`node/${nodeName}`).map(({ code }) => code);
  }

  /** How often a command of the kind has been carried out. */
  count(kind: string): number {
    return this.box.journal.filter(entry => entry.event === "ended" && entry.command.kind === kind).length;
  }
}

export function templateOf(name: string) {
  return { apiVersion: `${fenceGroup}/v1`, kind: fenceTemplates.kind, name, namespace: "default" };
}

/** Templates that can be used beside others of their kind. */
export const several = { "remediation.medik8s.io/multiple-templates-support": "true" };

export function escalating(timeout: string, ...names: readonly string[]) {
  const step = (name: string, index: number) => ({
    order: index + 1,
    timeout,
    remediationTemplate: templateOf(name),
  });
  return { escalatingRemediations: names.map(step) };
}

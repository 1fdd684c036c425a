// One story of a health check on a real control plane: its own namespace with templates, its own nodes, which nobody
// but the API server knows, and its own check, which selects them.

import type { KubeObject } from "../../../src/api/meta.ts";
import { type NodeAction, nodeActions } from "../../../src/api/node-action.ts";
import { type NodeHealthCheck, nodeHealthChecks } from "../../../src/api/node-health-check.ts";
import { nodeLeaseName, nodeLeaseNamespace } from "../../../src/api/node-health-check-contract.ts";
import { ApiError } from "../../../src/api/status.ts";
import { formatTime } from "../../../src/api/time.ts";
import { leases, nodes } from "../../../src/control/resources.ts";
import { systemClock } from "../../../src/kube/system-clock.ts";
import { Stage, type World } from "../../spine/world.ts";
import { ailment, type Manner, type Remediation, setCondition, strangers, strangerTemplates } from "./stranger.ts";

export type Check = NodeHealthCheck & KubeObject;
export type Status = NonNullable<NodeHealthCheck["status"]>;
export type Action = NodeAction & KubeObject;
type Lease = KubeObject & { spec?: { holderIdentity?: string; leaseDurationSeconds?: number } };

const timedOutKey = "remediation.medik8s.io/nhc-timed-out";

export class Ward extends Stage {
  static async open(world: World, name: string): Promise<Ward> {
    const ward = new Ward(world, name);
    await ward.open();
    return ward;
  }

  async admit(...names: readonly string[]): Promise<string[]> {
    const time = formatTime(systemClock.now());
    const word = { reason: "Test", message: "", lastHeartbeatTime: time, lastTransitionTime: time };
    const conditions = [
      { type: "Ready", status: "True", ...word },
      { type: ailment, status: "False", ...word },
    ];
    for (const name of names) {
      await this.create(nodes, { metadata: { name: this.named(name), labels: this.labels }, status: { conditions } });
    }
    return names.map(name => this.named(name));
  }

  sicken(node: string): Promise<void> {
    return setCondition(this.world.api, node, "True");
  }

  heal(node: string): Promise<void> {
    return setCondition(this.world.api, node, "False");
  }

  /** Says that it may be one of several of its kind. */
  async template(name: string, manner: Manner): Promise<void> {
    const annotations = { "remediation.medik8s.io/multiple-templates-support": "true" };
    await this.create(strangerTemplates, { metadata: { name, annotations }, spec: { template: { spec: { manner } } } });
  }

  reference(name: string, { group, version, kind } = strangerTemplates) {
    return { apiVersion: `${group}/${version}`, kind, name, namespace: this.name };
  }

  async check(spec: object): Promise<Check> {
    const unhealthyConditions = [{ type: ailment, status: "True", duration: "1s" }];
    return this.create<Check>(nodeHealthChecks.resource, {
      metadata: { name: this.name },
      spec: { selector: { matchLabels: this.labels }, unhealthyConditions, maxUnhealthy: "100%", ...spec },
    });
  }

  edit(spec: object): Promise<void> {
    return this.patch(nodeHealthChecks.resource, this.name, { spec });
  }

  /** Once the check says so. */
  status(what: string, isSo: (status: Status) => boolean): Promise<Status> {
    return this.world.until(`NodeHealthCheck ${this.name}: ${what}`, async () => {
      const { status = {} } = (await this.get<Check>(nodeHealthChecks.resource, this.name)) ?? {};
      return isSo(status) ? status : undefined;
    });
  }

  async remediations(): Promise<Remediation[]> {
    return (await this.world.api.list<Remediation>(strangers, { namespace: this.name })).items;
  }

  /** The one by the template, once it is there and so. */
  remediation(template: string, isSo: (one: Remediation) => boolean = () => true): Promise<Remediation> {
    return this.world.until(`a remediation of ${this.name} by ${template}`, async () => {
      const found = (await this.remediations()).find(one => templateOf(one) === template);
      return found !== undefined && isSo(found) ? found : undefined;
    });
  }

  async noneLeft(): Promise<void> {
    await this.world.until(`the end of all remediations of ${this.name}`, async () =>
      (await this.remediations()).length === 0 ? true : undefined,
    );
  }

  /** Undefined: nobody holds the node. */
  async lease(node: string): Promise<Lease | undefined> {
    const key = { name: nodeLeaseName(node), namespace: nodeLeaseNamespace };
    return this.world.api.get<Lease>(leases, key).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
  }

  /** Of the nodes of this story, whatever has become of them. */
  async entries(): Promise<Action[]> {
    const { items } = await this.world.api.list<Action>(nodeActions.resource);
    return items.filter(({ spec }) => spec.node.name.startsWith(`${this.name}-`));
  }

  /** All of them, once they are over. */
  entriesDone(count: number): Promise<Action[]> {
    return this.world.until(`${count} actions of ${this.name} that are done`, async () => {
      const found = await this.entries();
      return found.length === count && found.every(({ status }) => status?.phase === "Done") ? found : undefined;
    });
  }
}

export function templateOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.["remediation.medik8s.io/template-name"];
}

export function isTimedOut({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[timedOutKey] !== undefined;
}

export function conditionOf({ conditions = [] }: Status, type: string) {
  return conditions.find(condition => condition.type === type);
}

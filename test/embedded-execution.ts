// Single commands carried out on the embedded API: for tests of what each one writes and of how it ends.

import { customResourceDefinition } from "../src/api/crd.ts";
import type { KindDefinition } from "../src/api/kind-definition.ts";
import { apiVersionOf, type KubeObject, type Manifest, parseApiVersion, type Resource } from "../src/api/meta.ts";
import { nodeActions } from "../src/api/node-action.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { safetyPolicies } from "../src/api/safety-policy.ts";
import { execute } from "../src/control/execute.ts";
import type { Execution } from "../src/control/execution.ts";
import { guardedApi, guardedProvider } from "../src/control/guard.ts";
import type { InstanceProvider, KubeApi } from "../src/control/ports.ts";
import { nodes, pods } from "../src/control/resources.ts";
import { LeaseLooks } from "../src/control/lease-looks.ts";
import { RecentReads } from "../src/control/recent-reads.ts";
import { Searches } from "../src/control/searches.ts";
import { StartLooks } from "../src/control/start-looks.ts";
import type { Command, Outcome, Settings } from "../src/decide/decision.ts";
import { ApiServer } from "../src/sim/api-server.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { InProcessApi } from "../src/sim/in-process.ts";
import { builtInKinds } from "../src/sim/kinds/built-in-kinds.ts";
import { seededRandom } from "../src/sim/random.ts";
import { ClusterPicture } from "../src/snapshot/cluster-picture.ts";
import { t0 } from "./builders.ts";
import { scriptedProvider } from "./scripted-shell.ts";

const kindByPlural = {
  nodes: "node",
  pods: "pod",
  nodeclaims: "claim",
  nodepools: "pool",
  nodeactions: "action",
  safetypolicies: "safety-policy",
} as const;
export const resources = {
  nodes,
  pods,
  claims: nodeClaims.resource,
  pools: nodePools.resource,
  actions: nodeActions.resource,
  policies: safetyPolicies.resource,
};

// Not all of ours: each one costs time.
const kinds: readonly KindDefinition[] = [nodeClaims, nodePools, nodeActions, safetyPolicies];

function put(server: ApiServer, plural: string, object: { apiVersion: string; [field: string]: unknown }): void {
  const body = structuredClone(object);
  server.handle({ verb: "create", ...parseApiVersion(object.apiVersion), plural, options: {}, body });
}

export class EmbeddedExecution {
  readonly clock = new VirtualClock(t0);
  readonly server: KubeApi;
  readonly picture: ClusterPicture;
  provider: InstanceProvider;
  /** Writes as `verb plural`, in order. */
  readonly writes: string[] = [];
  /** Called before each call that the command makes. */
  interfere: (call: string) => Promise<void> | void = () => {};
  readonly abort = new AbortController();
  readonly leaseLooks = new LeaseLooks();
  readonly recentReads = new RecentReads(this.clock);
  /** What will begin next. */
  inLine: readonly Command[] = [];
  readonly startLooks: StartLooks;
  isInTerm = true;
  /** As the turns would judge; absent: by somebody who remembers nothing. */
  remembering: Execution["remembering"];
  settings: Settings = { cluster: "blue", dryRun: false, foreignClaims: "ignore" };

  constructor(provider: Partial<InstanceProvider> = {}, more: readonly KindDefinition[] = []) {
    const { clock } = this;
    const server = new ApiServer({ clock, random: seededRandom(1), kinds: builtInKinds });
    for (const name of ["default", "kube-node-lease"]) {
      put(server, "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    for (const kind of [...kinds, ...more]) put(server, "customresourcedefinitions", customResourceDefinition(kind));
    this.server = new InProcessApi(server, clock);
    this.provider = scriptedProvider(provider);
    this.picture = new ClusterPicture(this.provider.view);
    this.startLooks = new StartLooks({ clock, picture: this.picture, next: () => this.inLine });
  }

  async execute(command: Command): Promise<Outcome> {
    const { picture, clock, settings } = this;
    const guard = { signal: this.abort.signal, isInTerm: () => this.isInTerm };
    const api = guardedApi(this.#observed(), guard);
    const searches = new Searches(picture);
    const { leaseLooks, recentReads, startLooks, remembering } = this;
    const provider = guardedProvider(this.provider, guard);
    return this.settle(
      execute(command, {
        api,
        provider,
        picture,
        clock,
        settings,
        epoch: 1,
        searches,
        leaseLooks,
        recentReads,
        startLooks,
        ...(remembering === undefined ? {} : { remembering }),
        signal: this.abort.signal,
      }),
    );
  }

  /** Creates it, and the picture shows it. */
  async create<T extends KubeObject>(
    resource: Resource,
    manifest: Pick<Manifest, "metadata"> & { [field: string]: unknown },
  ): Promise<T> {
    const { kind } = resource;
    const key = resource.namespaced ? { namespace: "default" } : {};
    const body = { ...manifest, apiVersion: apiVersionOf(resource), kind };
    return this.see<T>(resource, await this.settle(this.server.create<T>(resource, key, body)));
  }

  async patch<T extends KubeObject>(resource: Resource, name: string, body: object): Promise<T> {
    const key = resource.namespaced ? { name, namespace: "default" } : { name };
    const subresource = "status" in body && resource !== nodes ? { subresource: "status" as const } : {};
    return this.settle(this.server.patch<T>(resource, key, { type: "merge", body }, subresource));
  }

  see<T extends KubeObject>(resource: Resource, raw: T): T {
    this.picture.answered(kindByPlural[resource.plural as keyof typeof kindByPlural], raw);
    return raw;
  }

  async get<T extends KubeObject>(resource: Resource, name: string): Promise<T | undefined> {
    const key = resource.namespaced ? { name, namespace: "default" } : { name };
    return this.settle(this.server.get<T>(resource, key).catch(() => undefined));
  }

  async remove(resource: Resource, name: string): Promise<void> {
    const key = resource.namespaced ? { name, namespace: "default" } : { name };
    await this.settle(this.server.delete(resource, key, { gracePeriodSeconds: 0 }));
  }

  async settle<T>(answer: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const settled = answer.finally(() => {
      state.isSettled = true;
    });
    while (!state.isSettled) await this.clock.runFor(0);
    return settled;
  }

  #observed(): KubeApi {
    const { server } = this;
    const before = async (verb: string, { plural }: Resource, name = "") => {
      await this.interfere(`${verb} ${plural} ${name}`.trim());
      if (verb !== "get" && verb !== "list") this.writes.push(`${verb} ${plural}`);
    };
    return {
      ...server,
      get: async (resource, key, options) => {
        await before("get", resource, key.name);
        return server.get(resource, key, options);
      },
      list: async (resource, options) => {
        await before("list", resource);
        return server.list(resource, options);
      },
      create: async (resource, key, object, options) => {
        await before("create", resource);
        return server.create(resource, key, object, options);
      },
      patch: async (resource, key, patch, options) => {
        await before(options?.subresource ? `patch-${options.subresource}` : "patch", resource);
        return server.patch(resource, key, patch, options);
      },
      delete: async (resource, key, options) => {
        await before("delete", resource);
        return server.delete(resource, key, options);
      },
    };
  }
}

export function targetOf({ metadata: { name, uid, namespace } }: KubeObject) {
  return { name, uid, ...(namespace === undefined ? {} : { namespace }) };
}

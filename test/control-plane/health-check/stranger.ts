// A remediator as a stranger would write it: kinds of another group, a ServiceAccount and rights of its own, its own
// finalizer. It knows the contract and nothing of who makes its objects; what it does is said in their spec.

import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, Manifest, Resource } from "../../../src/api/meta.ts";
import { ApiError } from "../../../src/api/status.ts";
import { formatTime } from "../../../src/api/time.ts";
import type { KubeApi } from "../../../src/control/ports.ts";
import { nodes } from "../../../src/control/resources.ts";
import type { Connection } from "../../../src/kube/client.ts";
import { systemClock } from "../../../src/kube/system-clock.ts";
import { addressOf, connectTo } from "../../contract/backends.ts";
import { definitionOf } from "../../definition-of.ts";
import { established } from "../established.ts";
import { succeed } from "../spine/installed.ts";
import type { ControlPlane } from "../start.ts";

/** Succeeds, fails, waits until its time is up, or takes the node away and succeeds once it is told of another one. */
export type Manner = "Cure" | "Fail" | "Wait" | "TakeAway";

const group = "power.example.org";
const finalizer = `${group}/undo`;
/** On its object: the machine that follows the one it took away is there. */
export const arrivedKey = `${group}/arrived`;
/** What it heals. */
export const ailment = "Broken";
const account = { name: "stranger", namespace: "stranger-system" };
const lookEveryMs = 250;

export const strangers: Resource = {
  group,
  version: "v1beta3",
  plural: "strangerremediations",
  kind: "StrangerRemediation",
  namespaced: true,
};
export const strangerTemplates: Resource = {
  ...strangers,
  plural: "strangerremediationtemplates",
  kind: "StrangerRemediationTemplate",
};
/** Of a kind that nobody grants to anybody. */
export const secretives: Resource = { ...strangers, plural: "secretiveremediations", kind: "SecretiveRemediation" };
export const secretiveTemplates: Resource = {
  ...strangers,
  plural: "secretiveremediationtemplates",
  kind: "SecretiveRemediationTemplate",
};

export type Remediation = KubeObject & {
  spec?: { manner?: Manner };
  status?: { conditions?: readonly { type: string; status: string }[] };
};

/** Installs the kinds, the rights and the account, and begins to serve. */
export async function aStranger(plane: ControlPlane): Promise<Stranger> {
  const items = [
    ...strangerDefinitions,
    ...[secretives, secretiveTemplates].map(kind => definitionOf(kind)),
    ...rights(),
  ];
  await succeed(
    plane,
    ["apply", "--server-side", "-f", "-"],
    JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  );
  await established(plane);
  const made = await succeed(plane, ["create", "token", account.name, "-n", account.namespace, "--duration=1h"]);
  return new Stranger(connectTo({ ...addressOf(plane), token: made.trim() }));
}

export class Stranger {
  readonly #api: Connection;
  readonly #served: Promise<void>;
  #isStopped = false;

  constructor(api: Connection) {
    this.#api = api;
    this.#served = this.#serve();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#served;
    await this.#api.close();
  }

  async #serve(): Promise<void> {
    for (; !this.#isStopped; await sleep(lookEveryMs)) {
      const { items } = await this.#api.list<Remediation>(strangers).catch(() => ({ items: [] }));
      // One after the other is quick enough, and whoever was quicker is met again in the next round.
      for (const one of items) await tend(this.#api, one).catch(ignoreStale);
    }
  }
}

async function tend(api: KubeApi, one: Remediation): Promise<void> {
  const { annotations = {}, finalizers = [], deletionTimestamp, name } = one.metadata;
  if (deletionTimestamp !== undefined) return hold(api, one, undefined);
  if (!finalizers.includes(finalizer)) return hold(api, one, finalizer);
  if (wordOf(one, "Succeeded") === "True" || wordOf(one, "Succeeded") === "False") return;
  const node = annotations["remediation.medik8s.io/node-name"] ?? name;
  switch (one.spec?.manner) {
    case "Cure":
      await setCondition(api, node, "False");
      return say(api, one, { Processing: "False", Succeeded: "True" });
    case "Fail":
      return say(api, one, { Processing: "False", Succeeded: "False" });
    case "TakeAway":
      return takeAway(api, one, node);
    default: {
      const isOver = "remediation.medik8s.io/nhc-timed-out" in annotations;
      return say(api, one, isOver ? { Processing: "False", Succeeded: "False" } : { Processing: "True" });
    }
  }
}

async function takeAway(api: KubeApi, one: Remediation, node: string): Promise<void> {
  if (one.metadata.annotations?.[arrivedKey] !== undefined) {
    return say(api, one, { Processing: "False", Succeeded: "True", PermanentNodeDeletionExpected: "True" });
  }
  await say(api, one, { Processing: "True", PermanentNodeDeletionExpected: "True" });
  if (wordOf(one, "PermanentNodeDeletionExpected") === "True") await api.delete(nodes, { name: node });
}

async function hold(api: KubeApi, { metadata }: Remediation, held: string | undefined): Promise<void> {
  const { name, namespace = "", resourceVersion, finalizers = [] } = metadata;
  const others = finalizers.filter(other => other !== finalizer);
  if (held === undefined && others.length === finalizers.length) return;
  const body = { metadata: { resourceVersion, finalizers: [...others, ...(held === undefined ? [] : [held])] } };
  await api.patch(strangers, { name, namespace }, { type: "merge", body });
}

async function say(api: KubeApi, one: Remediation, words: Readonly<Record<string, string>>): Promise<void> {
  if (Object.entries(words).every(([type, word]) => wordOf(one, type) === word)) return;
  const { name, namespace = "" } = one.metadata;
  const lastTransitionTime = formatTime(systemClock.now());
  const conditions = Object.entries(words).map(([type, status]) => ({
    type,
    status,
    reason: `Stranger${status}`,
    message: "",
    lastTransitionTime,
  }));
  const options = { subresource: "status" } as const;
  await api.patch(strangers, { name, namespace }, { type: "merge", body: { status: { conditions } } }, options);
}

function wordOf({ status }: Remediation, type: string): string | undefined {
  return status?.conditions?.find(condition => condition.type === type)?.status;
}

export async function setCondition(api: KubeApi, name: string, status: "True" | "False"): Promise<void> {
  const lastTransitionTime = formatTime(systemClock.now());
  const body = {
    status: { conditions: [{ type: ailment, status, reason: "Test", message: "", lastTransitionTime }] },
  };
  await api.patch(nodes, { name }, { type: "strategic", body }, { subresource: "status" });
}

function ignoreStale(error: unknown): void {
  if (!(error instanceof ApiError) || ![404, 409].includes(error.code)) throw error;
}

export const strangerDefinitions = [strangers, strangerTemplates].map(kind => definitionOf(kind));

/** What it needs itself, and what it grants to whoever makes remediations, by the label of the contract. */
function rights(): Manifest[] {
  const rbac = "rbac.authorization.k8s.io";
  const { name, namespace } = account;
  const role = (metadata: object, rules: readonly (readonly [string, string, ...string[]])[]) => ({
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata,
    rules: rules.map(([apiGroup, resource, ...verbs]) => ({ apiGroups: [apiGroup], resources: [resource], verbs })),
  });
  const label = { "rbac.ext-remediation/aggregate-to-ext-remediation": "true" };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } },
    role({ name: "stranger" }, [
      [group, strangers.plural, "get", "list", "watch", "patch"],
      [group, `${strangers.plural}/status`, "patch"],
      ["", "nodes", "get", "delete"],
      ["", "nodes/status", "patch"],
    ]),
    role({ name: "ext-remediation-strangers", labels: label }, [
      [group, strangerTemplates.plural, "get", "list", "watch"],
      [group, strangers.plural, "get", "list", "watch", "create", "patch", "update", "delete"],
    ]),
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "stranger" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "stranger" },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

// The writes of a burst once more, as they were and under other names, by a plain client: what the server alone needs for
// them, beside which the controller's own time is told. And as many ConfigMaps, the cheapest writes there are.

import { readFile } from "node:fs/promises";
import type { KubeObject, Manifest, Resource } from "../src/api/meta.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { runningMax } from "../src/control/lanes.ts";
import { simulatedInstances } from "../src/api/simulated-instance.ts";
import { layout } from "../test/control-plane/components.ts";
import type { ControlPlane } from "../test/control-plane/start.ts";
import { cpuSeconds, processesOf } from "./plane-cpu.ts";

/** As many at a time as the controller has lanes. */
const inFlightMax = runningMax;
const rounds = 3;

/** One write, as the audit log with bodies tells it. */
export type Write = {
  readonly at: number;
  readonly endedAt: number;
  readonly verb: "create" | "patch" | "delete";
  readonly resource: Resource;
  readonly subresource: "status" | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly body: Manifest;
};

type AuditEvent = {
  stage: string;
  verb: string;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  user: { username: string };
  objectRef?: {
    resource: string;
    subresource?: string;
    name?: string;
    namespace?: string;
    apiGroup?: string;
    apiVersion: string;
  };
  responseStatus?: { code?: number };
  requestObject?: Manifest;
};

const verbs: readonly string[] = ["create", "patch", "delete"];

/** Those of a user that were carried out, in the order in which they came. Needs `auditBodiesOf`. */
export async function readWrites({ dir }: ControlPlane, user: string): Promise<Write[]> {
  const text = await readFile(layout(dir).auditLog, "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const events = lines.filter(line => line !== "").map(line => JSON.parse(line) as AuditEvent);
  return events
    .filter(event => event.user.username === user && verbs.includes(event.verb) && isDone(event))
    .flatMap(writeOf)
    .toSorted((a, b) => a.at - b.at);
}

const isDone = ({ stage, responseStatus }: AuditEvent) =>
  stage === "ResponseComplete" && (responseStatus?.code ?? 500) < 300;

function writeOf({ verb, objectRef, requestObject: body, ...event }: AuditEvent): Write[] {
  const name = objectRef?.name ?? body?.metadata?.name;
  // What is bound to each value that it replaces cannot be said of another object.
  if (objectRef === undefined || body === undefined || name === undefined || Array.isArray(body)) return [];
  const { resource: plural, subresource, namespace, apiGroup: group = "", apiVersion: version } = objectRef;
  return [
    {
      at: Date.parse(event.requestReceivedTimestamp),
      endedAt: Date.parse(event.stageTimestamp),
      verb: verb as Write["verb"],
      resource: { group, version, plural, kind: "", namespaced: namespace !== undefined },
      subresource: subresource === "status" ? subresource : undefined,
      namespace,
      name,
      body,
    },
  ];
}

/** On the wall, and of server, etcd and client together: the median of some rounds. */
export type Taken = { readonly ms: number; readonly cpuSeconds: number };

/** Of the same kinds and sizes; `before` has those objects that were there already, by plural and name. */
export async function replay(
  { api, plane }: { api: KubeApi; plane: ControlPlane },
  writes: readonly Write[],
  before: ReadonlyMap<string, KubeObject> = new Map(),
): Promise<Taken> {
  const pids = [...processesOf(plane.dir), process.pid];
  const used = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const taken: Taken[] = [];
  for (let round = 0; round < rounds; round++) {
    const one = new Replay(api, `replay-${round}-`);
    const again = await one.prepare(writes, before);
    const [startedAt, usedBefore] = [performance.now(), used()];
    await again();
    taken.push({ ms: performance.now() - startedAt, cpuSeconds: used() - usedBefore });
  }
  return { ms: median(taken.map(({ ms }) => ms)), cpuSeconds: median(taken.map(one => one.cpuSeconds)) };
}

/** As many ConfigMaps. */
export async function plainMs(api: KubeApi, count: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await inParallel(count, async index => {
      const metadata = { name: `plain-${round}-${index}`, namespace: "default" };
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "x".repeat(1_000) } };
      await api.create(simulatedInstances, { namespace: "default" }, body);
    });
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

export async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: inFlightMax }, lane));
}

/** How many of them the server had in hand at a time. */
export function inFlight(writes: readonly Pick<Write, "at" | "endedAt">[], wholeMs: number): number {
  return writes.reduce((sum, { at, endedAt }) => sum + endedAt - at, 0) / wholeMs;
}

/** How many, and of what. */
export function countsOf(writes: readonly Write[]): string {
  const counts = new Map<string, number>();
  for (const { verb, resource, subresource } of writes) {
    const what = `${verb} ${resource.plural}${subresource === undefined ? "" : `/${subresource}`}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const parts = [...counts].toSorted(([, a], [, b]) => b - a).map(([what, count]) => `${count} ${what}`);
  return `${writes.length}: ${parts.join(", ")}`;
}

const keyOf = ({ resource, name }: Write) => `${resource.plural}/${name}`;
const median = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

class Replay {
  readonly #api: KubeApi;
  readonly #prefix: string;
  /** As it was last answered: the next write on the object waits for it, as the controller's own did. */
  readonly #lastByKey = new Map<string, Promise<KubeObject | undefined>>();

  constructor(api: KubeApi, prefix: string) {
    this.#api = api;
    this.#prefix = prefix;
  }

  /** Makes what must be there, and returns what writes the rest. */
  async prepare(writes: readonly Write[], before: ReadonlyMap<string, KubeObject>): Promise<() => Promise<void>> {
    const created = new Set(writes.filter(({ verb }) => verb === "create").map(keyOf));
    const replayed = writes.filter(write => created.has(keyOf(write)) || before.has(keyOf(write)));
    const others = new Map(replayed.filter(write => !created.has(keyOf(write))).map(write => [keyOf(write), write]));
    const copied = [...others];
    await inParallel(copied.length, async index => {
      const [key, write] = copied[index]!; // below its length
      this.#lastByKey.set(key, Promise.resolve(await this.#copy(write, before.get(key)!))); // as filtered above
    });
    return () =>
      inParallel(replayed.length, async index => {
        const write = replayed[index]!; // below its length
        const key = keyOf(write);
        const next = (this.#lastByKey.get(key) ?? Promise.resolve(undefined)).then(last => this.#write(write, last));
        this.#lastByKey.set(key, next);
        await next;
      });
  }

  async #copy({ resource, namespace, name }: Write, original: KubeObject): Promise<KubeObject> {
    const { apiVersion, kind, metadata, status, ...rest } = original;
    const { labels = {}, annotations = {}, finalizers = [] } = metadata;
    const copy = {
      apiVersion,
      kind,
      metadata: { name: this.#prefix + name, labels, annotations, finalizers },
      ...rest,
    };
    const made = await this.#api.create(resource, inNamespace(namespace), copy);
    if (status === undefined) return made;
    const key = { name: this.#prefix + name, ...inNamespace(namespace) };
    return this.#api.patch(resource, key, { type: "merge", body: { status } }, { subresource: "status" });
  }

  async #write(write: Write, last: KubeObject | undefined): Promise<KubeObject | undefined> {
    const { verb, resource, subresource, namespace, body } = write;
    const name = this.#prefix + write.name;
    const key = { name, ...inNamespace(namespace) };
    switch (verb) {
      case "create": {
        const { labels, annotations, ownerReferences, finalizers } = body.metadata as KubeObject["metadata"];
        const metadata = JSON.parse(
          JSON.stringify({ name, namespace, labels, annotations, ownerReferences, finalizers }),
        );
        return this.#api.create(resource, inNamespace(namespace), { ...body, metadata });
      }
      case "patch": {
        const options = subresource === undefined ? {} : { subresource };
        return this.#api.patch(resource, key, { type: "merge", body: bound(body, last) }, options);
      }
      case "delete": {
        const { uid, resourceVersion } = last?.metadata ?? {};
        const preconditions = uid === undefined || resourceVersion === undefined ? {} : { uid, resourceVersion };
        await this.#api.delete(resource, key, { preconditions });
        return undefined;
      }
    }
  }
}

const inNamespace = (namespace: string | undefined) => (namespace === undefined ? {} : { namespace });

/** To the object and the version that were answered last, where the original was bound to its own. */
function bound(body: Manifest, last: KubeObject | undefined): object {
  if (body.metadata === undefined || last === undefined) return body;
  const { uid, resourceVersion } = last.metadata;
  return { ...body, metadata: { ...body.metadata, uid, resourceVersion } };
}

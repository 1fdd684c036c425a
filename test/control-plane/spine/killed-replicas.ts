// Replicas of the controller, one leading and one in waiting, each behind a proxy of its own. The leader is killed with
// SIGKILL at a write, either before the server has seen it or when its answer is on the way; then another is started.

import { nodeLeaseNamespace } from "../../../src/api/node-health-check-contract.ts";
import { addressOf } from "../../contract/backends.ts";
import { type Fault, type FaultProxy, faultProxy, type Seen } from "../../fault-proxy.ts";
import type { FettleProcess } from "../../spine/fettle-process.ts";
import { processWorld } from "../../spine/process-world.ts";
import type { World } from "../../spine/world.ts";
import { type Identity, type Installed, shortLease } from "./installed.ts";

export type Moment = "before" | "after";

/** Asked at every write, in words such as "PATCH nodeclaims/status"; a moment: the process dies there. */
export type Fate = (write: string) => Moment | undefined;

type Replica = { process: FettleProcess; proxy: FaultProxy; isDying: boolean };

export class KilledReplicas {
  /** Writes that a replica died at. */
  readonly deaths: { write: string; moment: Moment }[] = [];
  /** Nobody dies before a test says so. */
  fate: Fate = () => undefined;
  readonly #cluster: Installed;
  readonly #identity: Identity;
  readonly #replicas = new Set<Replica>();
  readonly #successions: Promise<void>[] = [];
  readonly #flags: readonly string[];
  #isStopped = false;

  private constructor(cluster: Installed, identity: Identity, flags: readonly string[]) {
    this.#cluster = cluster;
    this.#identity = identity;
    this.#flags = [...shortLease, ...flags];
  }

  static async start(cluster: Installed, ...flags: readonly string[]): Promise<KilledReplicas> {
    const replicas = new KilledReplicas(cluster, await cluster.identity(), flags);
    await replicas.#add();
    await replicas.#add();
    return replicas;
  }

  /** `waitMaxMs`: each death costs a lease. */
  world(waitMaxMs = 300_000): World {
    const { api } = this.#cluster;
    const stop = () => this.#cluster.stop();
    const account = () => [...this.#replicas].flatMap(({ process }) => [...process.lines.slice(-20), "–"]);
    return processWorld({ name: "real", api, account, stop, waitMaxMs });
  }

  async #add(): Promise<void> {
    const proxy = await faultProxy(addressOf(this.#cluster.plane));
    const process = await this.#cluster.run(this.#identity, { url: proxy.url, flags: this.#flags });
    const replica = { process, proxy, isDying: false };
    proxy.script(seen => this.#faultOf(seen, replica));
    this.#replicas.add(replica);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#successions);
    await Promise.all([...this.#replicas].map(replica => this.#end(replica)));
  }

  #faultOf(seen: Seen, replica: Replica): Fault | undefined {
    const write = writeOf(seen);
    if (replica.isDying) return { kind: "half-open" };
    const moment = write === undefined ? undefined : this.fate(write);
    if (write === undefined || moment === undefined) return undefined;
    replica.isDying = true;
    this.deaths.push({ write, moment });
    const succeed = () => void this.#successions.push(this.#succeed(replica));
    if (moment === "after") return { kind: "keep-answer", answered: succeed };
    succeed();
    return { kind: "half-open" };
  }

  async #succeed(replica: Replica): Promise<void> {
    await this.#end(replica);
    if (!this.#isStopped) await this.#add();
  }

  async #end(replica: Replica): Promise<void> {
    await replica.process.kill();
    this.#replicas.delete(replica);
    await replica.proxy.stop();
  }
}

const namedPath = /^\/(?:api|apis\/[^/]+)\/[^/]+(?:\/namespaces\/[^/]+(?=\/[^/]))?\/([^/]+)(?:\/[^/]+)?(?:\/([^/]+))?$/;

/** Undefined: nothing is written, or nothing that belongs to what is done with nodes: not who leads, and no Events. */
function writeOf({ method, path }: Seen): string | undefined {
  const [, resource = "", subresource] = namedPath.exec(path) ?? [];
  const isElection = resource === "leases" && !path.includes(`/namespaces/${nodeLeaseNamespace}/`);
  if (method === "GET" || isElection || resource === "events") return undefined;
  return `${method} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
}

// The provider of simulated machines. Its cloud is the API server: an instance is a ConfigMap (api/simulated-instance.ts)
// that this provider writes and reads, live, and that whoever plays the machines brings to life and to its end.

import { effectiveNodeClaim } from "../api/effective-node-pool.ts";
import type { KubeObject } from "../api/meta.ts";
import type { NodeClaim } from "../api/node-claim.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../api/node.ts";
import { faultsStriking } from "../api/simulated-chance.ts";
import {
  clusterKey,
  instanceNameOf,
  moments,
  nodeLabelsOf,
  nodeNameOf,
  parseProviderId,
  parseSimulatedInstance,
  providerIdOf,
  type SimulatedInstance,
  simulatedInstanceManifest,
  simulatedInstances,
  simulatedNamespace,
} from "../api/simulated-instance.ts";
import { ApiError } from "../api/status.ts";
import type { CallOptions, Clock, Feed, InstanceProvider, KubeApi, LaunchRequest } from "../control/ports.ts";
import type { Instance, ProviderError } from "../snapshot/instance.ts";
import type { ProviderView, RepairStatement } from "../snapshot/picture.ts";
import { cheapestOffer, type Offer } from "./cheapest-offer.ts";
import { repairStatements } from "./repair-statements.ts";
import { type ClassView, defaultClass, type ListedTypes, SimulatedClasses } from "./simulated-classes.ts";

export type SimulatedProviderOptions = {
  api: KubeApi;
  clock: Clock;
  feed: Feed;
  /** In place of the default catalogue. */
  instanceTypes?: ListedTypes;
  repairStatements?: readonly RepairStatement[];
};

const pageItemsMax = 500;
const namespaceResource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const keyOf = (name: string) => ({ name, namespace: simulatedNamespace });
type Kept = { object: KubeObject; instance: SimulatedInstance };

export function simulatedProvider(options: SimulatedProviderOptions): InstanceProvider {
  return new SimulatedProvider(options);
}

class SimulatedProvider implements InstanceProvider {
  readonly view: ProviderView;
  readonly #api: KubeApi;
  readonly #clock: Clock;
  readonly #classes: SimulatedClasses;
  #makingNamespace: Promise<void> | undefined;
  /** An API in the same process hands out the same object as long as nothing changes: each is read once. */
  readonly #listed = new WeakMap<KubeObject, Instance>();

  constructor(options: SimulatedProviderOptions) {
    this.#api = options.api;
    this.#clock = options.clock;
    const classes = new SimulatedClasses(options.feed, options.instanceTypes);
    this.#classes = classes;
    this.view = {
      name: "simulated",
      serves: kind => classes.serves(kind),
      defaultClass,
      nodeClass: ref => classes.state(ref),
      instanceTypes: ref => classes.get(ref)?.types ?? [],
      driftOf: claim => classes.driftOf(claim),
      repairStatements: options.repairStatements ?? repairStatements(),
    };
  }

  onChange(changed: () => void): void {
    this.#classes.onChange(changed);
  }

  stop(): void {
    this.#classes.stop();
  }

  create(request: LaunchRequest, options: CallOptions = {}): Promise<Instance | ProviderError> {
    return answered(async () => {
      const name = instanceNameOf(request.claim.metadata.uid);
      const offer = this.#offerFor(request);
      // Its name is the claim's own: where an earlier call has launched it, the server says so.
      if (!("error" in offer)) return this.#launch({ ...this.#instanceOf(request, offer), name }, options);
      // An earlier call may have launched it, whatever the class has become since.
      const earlier = await this.#find(name, options);
      if (earlier === undefined) return offer;
      return "error" in earlier ? earlier : asInstance(earlier.instance);
    });
  }

  #offerFor({ claim, nodeClass: ref }: LaunchRequest): Offer | ProviderError {
    const state = this.#classes.state(ref);
    const nodeClass = this.#classes.get(ref);
    if (state.state !== "Ready") return failure("NodeClassNotReady", state.message);
    return nodeClass === undefined ? failure("NodeClassNotReady", "The class is gone.") : chosenOffer(claim, nodeClass);
  }

  get(providerID: string, options: CallOptions = {}): Promise<Instance | "gone" | ProviderError> {
    return answered(async () => {
      const kept = await this.#kept(providerID, options);
      return kept === "gone" || "error" in kept ? kept : asInstance(kept.instance);
    });
  }

  list(cluster: string, options: CallOptions = {}): Promise<readonly Instance[] | ProviderError> {
    return answered(async () => {
      const instances: Instance[] = [];
      const query = { namespace: simulatedNamespace, labelSelector: `${clusterKey}=${cluster}`, ...options };
      for (let more: string | undefined = ""; more !== undefined; ) {
        const page = { ...query, limit: pageItemsMax, ...(more !== "" && { continue: more }) };
        const list: { items: KubeObject[]; continue?: string } = await this.#api.list(simulatedInstances, page);
        for (const object of list.items) {
          const listed = this.#listed.get(object) ?? listedInstance(object);
          // Whoever counts instances must not count one too few.
          if ("error" in listed) return listed;
          this.#listed.set(object, listed);
          instances.push(listed);
        }
        more = list.continue;
      }
      return instances;
    });
  }

  delete(providerID: string, options: CallOptions = {}): Promise<"terminating" | "gone" | ProviderError> {
    return this.#note(providerID, options, instance => ({
      answer: "terminating",
      data: instance.terminatingSince === undefined ? moments({ terminatingSince: this.#clock.now() }) : undefined,
    }));
  }

  reboot(providerID: string, token: string, options: CallOptions = {}): Promise<"rebooting" | "gone" | ProviderError> {
    return this.#note(providerID, options, ({ rebootToken, rebootingSince = this.#clock.now() }) => ({
      answer: "rebooting",
      // One that is under way for somebody else is as good.
      data: rebootToken === token ? undefined : { rebootToken: token, ...moments({ rebootingSince }) },
    }));
  }

  #instanceOf({ claim, nodeClass, cluster }: LaunchRequest, offer: Offer): Omit<SimulatedInstance, "name"> {
    const { [instanceTypeKey]: _type, [zoneKey]: _zone, [capacityTypeKey]: _capacityType, ...labels } = offer.labels;
    const { capacity, allocatable } = offer.type;
    const image = this.#classes.get(nodeClass)?.effective.image;
    return {
      cluster,
      claimUid: claim.metadata.uid,
      type: offer.type.name,
      zone: offer.zone,
      capacityType: offer.capacityType,
      nodeClass: nodeClass.name,
      nodeName: nodeNameOf(claim.metadata),
      labels,
      capacity,
      allocatable,
      launchedAt: this.#clock.now(),
      ...(image === undefined ? {} : { image }),
    };
  }

  async #launch(instance: SimulatedInstance, options: CallOptions): Promise<Instance | ProviderError> {
    const { name } = instance;
    const create = () =>
      this.#api.create(
        simulatedInstances,
        { namespace: simulatedNamespace },
        simulatedInstanceManifest(instance),
        options,
      );
    try {
      await create().catch(async error => {
        if (!isReason(error, "NotFound")) throw error;
        await this.#makeNamespace(options);
        return create();
      });
      return asInstance(instance);
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
      const other = await this.#find(name, options);
      if (other === undefined) return failure("Unknown", `Instance ${name} came and went.`);
      return "error" in other ? other : asInstance(other.instance);
    }
  }

  /** Once for all who miss it at the same time. */
  #makeNamespace(options: CallOptions): Promise<void> {
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: simulatedNamespace } };
    const make = async () => {
      try {
        await this.#api.create(namespaceResource, {}, manifest, options);
      } catch (error) {
        if (!isReason(error, "AlreadyExists")) throw error;
      } finally {
        this.#makingNamespace = undefined;
      }
    };
    this.#makingNamespace ??= make();
    return this.#makingNamespace;
  }

  /** Writes down what is asked of an instance, once; to ask again (`data` is undefined) is not to ask for more. */
  #note<T extends string>(
    providerID: string,
    options: CallOptions,
    wish: (instance: SimulatedInstance) => { answer: T; data: object | undefined },
  ): Promise<T | "gone" | ProviderError> {
    return answered(async () => {
      const kept = await this.#kept(providerID, options);
      if (kept === "gone" || "error" in kept) return kept;
      const { object, instance } = kept;
      const { answer, data } = wish(instance);
      if (data === undefined) return answer;
      // Only what was read just now: with another uid it would be another instance.
      const { resourceVersion } = object.metadata;
      const body = { metadata: { resourceVersion }, data };
      try {
        await this.#api.patch(simulatedInstances, keyOf(instance.name), { type: "merge", body }, options);
      } catch (error) {
        if (isReason(error, "NotFound")) return "gone";
        throw error;
      }
      return answer;
    });
  }

  async #kept(providerID: string, options: CallOptions): Promise<Kept | "gone" | ProviderError> {
    const parsed = parseProviderId(providerID);
    if (!parsed.ok) return failure("Invalid", parsed.error);
    const kept = await this.#find(parsed.value.name, options);
    if (kept === undefined) return "gone";
    if ("error" in kept || providerIdOf(kept.instance) === providerID) return kept;
    return failure("Invalid", `${providerID} is now ${providerIdOf(kept.instance)}: look who changed it.`);
  }

  async #find(name: string, options: CallOptions): Promise<Kept | undefined | ProviderError> {
    try {
      const object = await this.#api.get(simulatedInstances, keyOf(name), options);
      const parsed = parseSimulatedInstance(object);
      return parsed.ok ? { object, instance: parsed.value } : failure("Invalid", parsed.error);
    } catch (error) {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    }
  }
}

function chosenOffer(claim: NodeClaim, { offers, effective }: ClassView): Offer | ProviderError {
  const { uid } = claim.metadata;
  const { requirements, requests } = effectiveNodeClaim(claim.spec);
  const hasCapacity = ({ type, zone, capacityType }: Offer) =>
    !faultsStriking(effective, { type: type.name, zone, capacityType }, uid).some(({ kind }) => kind === "NoCapacity");
  return cheapestOffer(offers, { requirements, requests, claimUid: uid }, hasCapacity);
}

function listedInstance(object: KubeObject): Instance | ProviderError {
  const parsed = parseSimulatedInstance(object);
  return parsed.ok ? asInstance(parsed.value) : failure("Invalid", parsed.error);
}

function asInstance(instance: SimulatedInstance): Instance {
  const { cluster, claimUid, capacity, allocatable, launchedAt, image } = instance;
  return {
    providerID: providerIdOf(instance),
    createdAt: launchedAt,
    ...(cluster !== undefined && { cluster }),
    ...(claimUid !== undefined && { claimUid }),
    labels: nodeLabelsOf(instance),
    capacity,
    allocatable,
    ...(image !== undefined && { imageID: image }),
    state: stateOf(instance),
  };
}

function stateOf({ terminatingSince, offSince }: SimulatedInstance): Instance["state"] {
  if (terminatingSince !== undefined) return "terminating";
  return offSince === undefined ? "running" : "off";
}

function failure(error: ProviderError["error"], message: string): ProviderError {
  return { error, message };
}

function isReason(error: unknown, reason: string): boolean {
  return error instanceof ApiError && error.reason === reason;
}

/** What the API says no to did not happen; what it did not answer, or failed at, may have. */
async function answered<T>(call: () => Promise<T>): Promise<T | ProviderError> {
  try {
    return await call();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof ApiError) || error.code >= 500) return { error: "Unknown", message };
    if (error.code === 429) {
      const seconds = error.status.details?.retryAfterSeconds;
      return { error: "Throttled", message, ...(seconds !== undefined && { retryAfterMs: seconds * 1000 }) };
    }
    if (error.code === 403 && message.includes("exceeded quota")) return { error: "QuotaExceeded", message };
    return { error: error.code === 409 ? "Unknown" : "Invalid", message };
  }
}

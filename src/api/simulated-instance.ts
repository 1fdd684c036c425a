// An instance of the simulated provider as it is kept: a ConfigMap named after the uid of its claim, so that a second
// launch finds the first, whoever asks. The provider and the machines' player know each other by this shape alone.

import type { KubeObject, Manifest, Resource } from "./meta.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "./node.ts";
import { accepted, type Parsed, quoted, refused } from "./parsed.ts";
import type { ResourceList } from "./pod.ts";
import { chance } from "./simulated-chance.ts";
import type { Labels } from "./selector.ts";
import { formatMicroTime, type Instant, parseTime } from "./time.ts";

export const simulatedNamespace = "fettle-simulated";
export const simulatedInstances: Resource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};
export const clusterKey = "fettle.dev/cluster";
const claimUidKey = "fettle.dev/claim-uid";

export type SimulatedInstance = {
  name: string;
  cluster?: string;
  claimUid?: string;
  type: string;
  zone: string;
  capacityType: string;
  /** The name of its SimulatedNodeClass. */
  nodeClass: string;
  /** Under which its kubelet registers. */
  nodeName: string;
  /** Of its node, beside type, zone and capacity type. */
  labels: Labels;
  capacity: ResourceList;
  allocatable: ResourceList;
  launchedAt: Instant;
  /** Of its class when it was launched; absent: the class said none. */
  image?: string;
  /** Since when somebody wants it gone; absent: it runs. */
  terminatingSince?: Instant;
  /** Since when it has no power, until somebody takes this away; absent: it has. */
  offSince?: Instant;
  /** A reboot that is asked for and not over. */
  rebootingSince?: Instant;
  /** For whom the last one was: the same token is not rebooted for again. */
  rebootToken?: string;
  /** How often it has been rebooted; absent: never. */
  rebootCount?: number;
  /** When a reboot last healed what was wrong with it. */
  healedAt?: Instant;
};

/** The instants that change in an instance's life, by their key in the data. */
export type InstanceMoment = "terminatingSince" | "offSince" | "rebootingSince" | "healedAt";

const nodeNameMax = 63;

export function instanceNameOf(claimUid: string): string {
  return `i-${claimUid}`;
}

/** The claim's name, for people, and what tells it from an earlier claim of that name. */
export function nodeNameOf(claim: { name: string; uid: string }): string {
  const suffix = Math.floor(chance(claim.uid, "node") * 36 ** 4)
    .toString(36)
    .padStart(4, "0");
  return `${claim.name.slice(0, nodeNameMax - suffix.length - 1).replace(/[^a-z0-9]+$/, "")}-${suffix}`;
}

export function providerIdOf({ zone, name }: Pick<SimulatedInstance, "zone" | "name">): string {
  return `simulated:///${zone}/${name}`;
}

export function parseProviderId(text: string): Parsed<{ zone: string; name: string }> {
  const [, zone, name] = /^simulated:\/\/\/([^/]+)\/([^/]+)$/.exec(text) ?? [];
  if (zone !== undefined && name !== undefined) return accepted({ zone, name });
  return refused(`${quoted(text)} names no simulated instance: they read simulated:///ZONE/NAME`);
}

/** All labels that its node gets. */
export function nodeLabelsOf({ labels, type, zone, capacityType }: SimulatedInstance): Labels {
  return { ...labels, [instanceTypeKey]: type, [zoneKey]: zone, [capacityTypeKey]: capacityType };
}

export function simulatedInstanceManifest(instance: SimulatedInstance): Manifest {
  const { name, cluster, claimUid, type, zone, capacityType, nodeClass, nodeName } = instance;
  const { labels, capacity, allocatable, launchedAt, terminatingSince, offSince, rebootingSince, healedAt } = instance;
  const { rebootToken, rebootCount, image } = instance;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      namespace: simulatedNamespace,
      labels: { ...(cluster && { [clusterKey]: cluster }), ...(claimUid && { [claimUidKey]: claimUid }) },
    },
    data: {
      type,
      zone,
      capacityType,
      nodeClass,
      nodeName,
      labels: JSON.stringify(labels),
      capacity: JSON.stringify(capacity),
      allocatable: JSON.stringify(allocatable),
      launchedAt: formatMicroTime(launchedAt),
      ...moments({ terminatingSince, offSince, rebootingSince, healedAt }),
      ...(image === undefined ? {} : { image }),
      ...(rebootToken === undefined ? {} : { rebootToken }),
      ...(rebootCount === undefined ? {} : { rebootCount: String(rebootCount) }),
    },
  };
}

/** Entries of the data: an instant to be set, null to be taken away; undefined is left out. */
export function moments(
  change: Partial<Record<InstanceMoment, Instant | null | undefined>>,
): Partial<Record<InstanceMoment, string | null>> {
  const entries = Object.entries(change).filter(([, at]) => at !== undefined);
  return Object.fromEntries(entries.map(([key, at]) => [key, typeof at === "number" ? formatMicroTime(at) : null]));
}

/** Whoever can write ConfigMaps can write anything into one. */
export function parseSimulatedInstance(object: KubeObject): Parsed<SimulatedInstance> {
  const { metadata } = object;
  const data = new Entries(object["data"]);
  const instance = {
    name: metadata.name,
    ...present({ cluster: metadata.labels?.[clusterKey], claimUid: metadata.labels?.[claimUidKey] }),
    type: data.text("type"),
    zone: data.text("zone"),
    capacityType: data.text("capacityType"),
    nodeClass: data.text("nodeClass"),
    nodeName: data.text("nodeName"),
    labels: data.map("labels"),
    capacity: data.map("capacity"),
    allocatable: data.map("allocatable"),
    launchedAt: data.instant("launchedAt") ?? data.missing("launchedAt", 0),
    ...present({
      image: data.optionalText("image"),
      terminatingSince: data.instant("terminatingSince"),
      offSince: data.instant("offSince"),
      rebootingSince: data.instant("rebootingSince"),
      rebootToken: data.optionalText("rebootToken"),
      rebootCount: data.count("rebootCount"),
      healedAt: data.instant("healedAt"),
    }),
  };
  const [error] = data.errors;
  if (error === undefined) return accepted(instance);
  return refused(`ConfigMap ${simulatedNamespace}/${metadata.name} is no simulated instance: ${error}`);
}

/** Clusters put ConfigMaps of their own into every namespace (kube-root-ca.crt), which are nobody's instances. */
export function isMeantAsInstance({ metadata, ...object }: KubeObject): boolean {
  const { labels = {} } = metadata;
  return clusterKey in labels || claimUidKey in labels || (isRecord(object["data"]) && "launchedAt" in object["data"]);
}

/** Reads texts and remembers what could not be read. */
class Entries {
  readonly errors: string[] = [];
  readonly #data: Readonly<Record<string, unknown>>;

  constructor(data: unknown) {
    this.#data = isRecord(data) ? data : {};
  }

  missing<T>(key: string, value: T): T {
    this.errors.push(`data.${key} is missing`);
    return value;
  }

  text(key: string): string {
    const value = this.#data[key];
    return typeof value === "string" && value !== "" ? value : this.missing(key, "");
  }

  optionalText(key: string): string | undefined {
    return this.#data[key] === undefined ? undefined : this.text(key);
  }

  count(key: string): number | undefined {
    const value = this.#data[key];
    if (value === undefined || /^\d{1,9}$/.test(String(value))) return value === undefined ? value : Number(value);
    this.errors.push(`data.${key} must be a whole number`);
    return 0;
  }

  instant(key: string): Instant | undefined {
    const value = this.#data[key];
    if (value === undefined) return undefined;
    const parsed = parseTime(String(value));
    if (parsed.ok) return parsed.value;
    this.errors.push(`data.${key}: ${parsed.error}`);
    return 0;
  }

  map(key: string): Readonly<Record<string, string>> {
    const value = jsonOf(this.text(key));
    if (isRecord(value) && Object.values(value).every(entry => typeof entry === "string")) {
      return value as Record<string, string>;
    }
    this.errors.push(`data.${key} must be a JSON object of texts`);
    return {};
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

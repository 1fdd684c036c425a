// Amounts of resources as vectors of numbers: one index a resource, cpu in thousandths, everything else in whole units,
// rounded up as the scheduler rounds. Decides what a pod asks for; never whether it fits somewhere.

import type { Container, ContainerStatus, Pod, ResourceList } from "../../api/pod.ts";
import { milliValue, parseQuantity, wholeValue } from "../../api/quantity.ts";

export type Amounts = Float64Array;

export const cpu = 0;
export const memory = 1;
export const pods = 2;

export class ResourceSpace {
  readonly names: string[] = ["cpu", "memory", "pods"];
  readonly #indexByName = new Map(this.names.map((name, index) => [name, index]));
  readonly #valueByText = [new Map<string, number>(), new Map<string, number>()] as const;

  index(name: string): number {
    if (name === "cpu") return cpu;
    if (name === "memory") return memory;
    let index = this.#indexByName.get(name);
    if (index === undefined) {
      index = this.names.length;
      this.names.push(name);
      this.#indexByName.set(name, index);
    }
    return index;
  }

  /** Amounts of a list. It is as long as the resources known so far; an index beyond means none. */
  amounts(list: ResourceList | undefined): Amounts {
    const amounts = new Float64Array(this.names.length);
    if (this.#read(list, amounts)) return amounts;
    // It names resources that were not known before.
    for (const name in list) this.index(name);
    return this.amounts(list);
  }

  /** The same into numbers that are there; says whether they were long enough for it. */
  readInto(list: ResourceList | undefined, amounts: Amounts): boolean {
    amounts.fill(0);
    return this.#read(list, amounts);
  }

  #read(list: ResourceList | undefined, amounts: Amounts): boolean {
    for (const name in list) {
      const text = list[name] ?? "0";
      // The two that nearly all ask for need no look at the others.
      const index = name === "cpu" ? cpu : name === "memory" ? memory : this.index(name);
      if (index >= amounts.length) return false;
      const plain = plainValue(text, index === cpu ? 1000 : 1);
      amounts[index] = plain >= 0 ? plain : this.value(name, text);
    }
    return true;
  }

  value(name: string, text: string): number {
    const isCpu = name === "cpu";
    const plain = plainValue(text, isCpu ? 1000 : 1);
    if (plain >= 0) return plain;
    const cache = this.#valueByText[isCpu ? 1 : 0];
    let value = cache.get(text);
    if (value === undefined) {
      value = exactValue(text, isCpu);
      cache.set(text, value);
    }
    return value;
  }

  list(amounts: Amounts): Record<string, string> {
    const list: Record<string, string> = {};
    for (const [index, amount] of amounts.entries()) {
      const name = this.names[index];
      if (amount === 0 || name === undefined) continue;
      list[name] = index === cpu ? (amount % 1000 === 0 ? `${amount / 1000}` : `${amount}m`) : `${amount}`;
    }
    return list;
  }
}

const zeroCode = 48;
const digitsMax = 9;
const [milliCode, kiloCode, megaCode, gigaCode, binaryCode] = [109, 75, 77, 71, 105];

// Digits and a suffix, as nearly all amounts are written: read at a tenth of the price, and less than to look for it among
// those that were read. Negative: written otherwise.
function plainValue(text: string, unit: 1 | 1000): number {
  const { length } = text;
  let value = 0;
  let at = 0;
  for (; at < length; at++) {
    const digit = text.charCodeAt(at) - zeroCode;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === 0 || at > digitsMax) return -1;
  if (at === length) return value * unit;
  const suffix = text.charCodeAt(at);
  if (at + 1 === length) return suffix === milliCode ? Math.ceil((value * unit) / 1000) : -1;
  if (at + 2 !== length || text.charCodeAt(at + 1) !== binaryCode) return -1;
  if (suffix === megaCode) return value * unit * 2 ** 20;
  if (suffix === gigaCode) return value * unit * 2 ** 30;
  return suffix === kiloCode ? value * unit * 2 ** 10 : -1;
}

function exactValue(text: string, isCpu: boolean): number {
  const parsed = parseQuantity(text);
  // Stored objects passed the server's validation; what did not parse there counts as nothing, as a missing one.
  return parsed.ok ? Number(isCpu ? milliValue(parsed.value) : wholeValue(parsed.value)) : 0;
}

/**
 * What the scheduler sets aside for a pod: the larger of its containers with their sidecars and of each init container
 * with the sidecars started before it, the pod's own requests where given, the overhead, and one of `pods`.
 */
export function podAmounts(pod: Pod, space: ResourceSpace): Amounts {
  const { containers, initContainers = [], overhead, resources } = pod.spec;
  const [only] = containers;
  if (only !== undefined && isSimple(pod)) {
    const amounts = space.amounts(only.resources?.requests);
    amounts[pods] = 1;
    return amounts;
  }
  let running = new Float64Array(space.names.length);
  for (const container of containers) running = plus(running, asked(container, pod.status?.containerStatuses, space));
  let sidecars = new Float64Array(space.names.length);
  let starting = new Float64Array(space.names.length);
  for (const container of initContainers) {
    const own = asked(container, pod.status?.initContainerStatuses, space);
    if (container.restartPolicy === "Always") {
      running = plus(running, own);
      sidecars = plus(sidecars, own);
      starting = larger(starting, sidecars);
    } else {
      starting = larger(starting, plus(sidecars, own));
    }
  }
  let total = larger(running, starting);
  if (resources !== undefined) total = withPodLevel(total, resources.requests, space);
  if (overhead !== undefined) total = plus(total, space.amounts(overhead));
  total[pods] = 1;
  return total;
}

/** The same, in `scratch` where it has the room and the pod asks for nothing special: to be read at once. */
export function readAmounts(pod: Pod, space: ResourceSpace, scratch: Amounts): Amounts {
  if (!isSimple(pod) || !space.readInto(pod.spec.containers[0]?.resources?.requests, scratch)) {
    return podAmounts(pod, space);
  }
  scratch[pods] = 1;
  return scratch;
}

/**
 * What a pod asks for by its one container, if that is nothing but CPU and memory, and nothing but its namespace tells its
 * kind. Asked of every pod, by code that is cold: it calls nobody and makes no objects.
 */
export function bareRequests({ metadata: { labels }, spec, status }: Pod): ResourceList | undefined {
  const { containers } = spec;
  const only = containers[0];
  if (
    only === undefined ||
    containers.length > 1 ||
    only.ports !== undefined ||
    status?.containerStatuses !== undefined
  )
    return undefined;
  if (spec.initContainers !== undefined || spec.overhead !== undefined || spec.resources !== undefined)
    return undefined;
  if (spec.affinity !== undefined || spec.topologySpreadConstraints !== undefined || spec.volumes !== undefined)
    return undefined;
  if (spec.nodeSelector !== undefined || spec.tolerations !== undefined || spec.resourceClaims !== undefined)
    return undefined;
  for (const _ in labels) return undefined;
  const requests = only.resources?.requests;
  for (const name in requests) if (name !== "cpu" && name !== "memory") return undefined;
  return requests;
}

/** A text that is equal for pods that ask for the same, cheap to make; unequal texts may still mean the same. */
export function amountsSignature({ spec, status }: Pod): string {
  const [only] = spec.containers;
  if (!isSimple({ spec, status })) {
    const { containers, initContainers, overhead, resources } = spec;
    const parts = [containers, initContainers].map(list =>
      list?.map(one => [one.resources, one.restartPolicy, one.name]),
    );
    return JSON.stringify([parts, overhead, resources, status?.containerStatuses, status?.initContainerStatuses]);
  }
  const requests = only?.resources?.requests;
  let text = "";
  for (const name in requests) text += `${name}=${requests[name]};`;
  return text;
}

function isSimple({ spec, status }: { spec: Pod["spec"]; status?: Pod["status"] | undefined }): boolean {
  const isOne = spec.containers.length === 1 && spec.initContainers === undefined;
  return (
    isOne && spec.overhead === undefined && spec.resources === undefined && status?.containerStatuses === undefined
  );
}

// A limit without a request was made one by the API server's defaults, so only requests are read.
function asked(container: Container, statuses: readonly ContainerStatus[] | undefined, space: ResourceSpace): Amounts {
  const spec = space.amounts(container.resources?.requests);
  const status = statuses?.find(({ name }) => name === container.name);
  if (status?.resources === undefined) return spec;
  // While a container is being resized the larger of what it asks for and what it has counts.
  const allocated = space.amounts(status.allocatedResources);
  return larger(larger(spec, allocated), space.amounts(status.resources.requests));
}

function withPodLevel(
  total: Amounts,
  requests: ResourceList | undefined,
  space: ResourceSpace,
): Float64Array<ArrayBuffer> {
  const result = plus(total, new Float64Array(space.names.length));
  for (const name in requests) {
    if (!isPodLevel(name)) continue;
    const index = space.index(name);
    if (index >= result.length) return withPodLevel(plus(result, new Float64Array(index + 1)), requests, space);
    result[index] = space.value(name, requests[name] ?? "0");
  }
  return result;
}

function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

function plus(a: Amounts, b: Amounts): Float64Array<ArrayBuffer> {
  const sum = new Float64Array(Math.max(a.length, b.length));
  for (let r = 0; r < sum.length; r++) sum[r] = (a[r] ?? 0) + (b[r] ?? 0);
  return sum;
}

function larger(a: Amounts, b: Amounts): Float64Array<ArrayBuffer> {
  const max = new Float64Array(Math.max(a.length, b.length));
  for (let r = 0; r < max.length; r++) max[r] = Math.max(a[r] ?? 0, b[r] ?? 0);
  return max;
}

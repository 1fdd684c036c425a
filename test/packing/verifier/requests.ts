// What a pod asks a node for, added up as quantities and rounded once at the end, as the scheduler does.

import type { Container, ContainerStatus, Pod, ResourceList } from "../../../src/api/pod.ts";
import {
  addQuantities,
  compareQuantities,
  milliValue,
  parseQuantity,
  type Quantity,
  wholeValue,
  zero,
} from "../../../src/api/quantity.ts";

/** Whole units by resource; cpu in thousandths. */
export type Amounts = ReadonlyMap<string, bigint>;

type Exact = Map<string, Quantity>;

const known = new WeakMap<Pod, Amounts>();

export function requestsOf(pod: Pod): Amounts {
  const amounts = known.get(pod) ?? sumOf(pod);
  known.set(pod, amounts);
  return amounts;
}

function sumOf(pod: Pod): Amounts {
  const { containers, initContainers = [], overhead, resources } = pod.spec;
  let running: Exact = new Map();
  for (const container of containers) running = plus(running, asked(container, pod.status?.containerStatuses));
  let sidecars: Exact = new Map();
  let starting: Exact = new Map();
  for (const container of initContainers) {
    const isSidecar = container.restartPolicy === "Always";
    const own = asked(container, isSidecar ? pod.status?.initContainerStatuses : undefined);
    starting = larger(starting, plus(sidecars, own));
    if (isSidecar) [running, sidecars] = [plus(running, own), plus(sidecars, own)];
  }
  const total = larger(running, starting);
  for (const [name, quantity] of exact(resources?.requests)) if (isPodLevel(name)) total.set(name, quantity);
  return new Map([...rounded(plus(total, exact(overhead))), ["pods", 1n]]);
}

const knownLists = new WeakMap<ResourceList, Amounts>();

export function amountsOf(list: ResourceList = {}): Amounts {
  const amounts = knownLists.get(list) ?? rounded(exact(list));
  knownLists.set(list, amounts);
  return amounts;
}

export function added(...all: readonly Amounts[]): Amounts {
  const sum = new Map<string, bigint>();
  for (const amounts of all) for (const [name, value] of amounts) sum.set(name, (sum.get(name) ?? 0n) + value);
  return sum;
}

function asked({ name, resources }: Container, statuses: readonly ContainerStatus[] | undefined): Exact {
  const requests = exact(withLimits(resources?.requests, resources?.limits));
  const status = statuses?.find(one => one.name === name);
  if (status?.resources === undefined) return requests;
  return larger(larger(requests, exact(status.resources.requests)), exact(status.allocatedResources));
}

// A limit without a request is the request: the API server writes it so.
function withLimits(requests: ResourceList = {}, limits: ResourceList = {}): ResourceList {
  return { ...limits, ...requests };
}

function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

function exact(list: ResourceList | undefined): Exact {
  const found: Exact = new Map();
  for (const [name, text] of Object.entries(list ?? {})) {
    const parsed = parseQuantity(text);
    if (!parsed.ok) throw new Error(`${name}: ${parsed.error}`);
    found.set(name, parsed.value);
  }
  return found;
}

function rounded(amounts: Exact): Amounts {
  return new Map(
    [...amounts].map(([name, quantity]) => [name, name === "cpu" ? milliValue(quantity) : wholeValue(quantity)]),
  );
}

function plus(a: Exact, b: Exact): Exact {
  const sum = new Map(a);
  for (const [name, quantity] of b) sum.set(name, addQuantities(sum.get(name) ?? zero, quantity));
  return sum;
}

function larger(a: Exact, b: Exact): Exact {
  const most = new Map(a);
  for (const [name, quantity] of b) {
    const other = most.get(name);
    if (other === undefined || compareQuantities(quantity, other) > 0) most.set(name, quantity);
  }
  return most;
}

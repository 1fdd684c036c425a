// Opens a node for a pod: the pool, and the type that it is going to be filled for. Pools go by weight; among equals, and
// among types, the one whose room is worth most for its price, as far as what is left to place can use it.

import { admit, type Trouble } from "./admit.ts";
import { wouldUse } from "./fill.ts";
import { tooFewValues } from "./min-values.ts";
import { cheapestType, type OpenNode, typeFits } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import { type Amounts, pods } from "./resources.ts";
import type { Opening, PoolLeft, Promising, Search } from "./search.ts";
import type { State } from "./template.ts";
import { dot } from "./worth.ts";

export type PoolTrouble = Trouble | "limits" | "minValues" | "volume in use";

/** `share`: what one node may expect to be given of all that is left. */
export function openFor(search: Search, one: PodClass, share: Amounts): Opening | undefined {
  let best: Opening | undefined;
  let most = 0;
  for (const [index, left] of search.pools.entries()) {
    // The heaviest pool that can take the pod takes it, whatever the price.
    if (best !== undefined && (best.left.pool.pool.weight ?? 0) > (left.pool.pool.weight ?? 0)) break;
    const found = openIn(search, one, { index, share });
    if (typeof found === "string") continue;
    const yields = yieldOf(search, found, share);
    if (best === undefined || yields > most) [best, most] = [found, yields];
  }
  return best;
}

export function openIn(
  search: Search,
  { kind, size }: PodClass,
  { index, share }: { index: number; share: Amounts },
): Opening | PoolTrouble {
  search.work += 10;
  const left = search.pools[index];
  if (left === undefined || left.nodes < 1) return "limits";
  const { template } = left.pool;
  const node: OpenNode = {
    template,
    pool: index,
    index: search.opened.length,
    host: search.nextHost,
    claim: undefined,
    allowed: withinLimits(left),
    state: template.root,
    used: new Float64Array(size.amounts.length),
    ports: template.daemonPorts,
    seated: [],
  };
  if (!search.isTolerated(kind, node)) return "taints";
  if (search.isInUse(kind)) return "volume in use";
  const holds = (one: State) => cheapestType(node, one, size.amounts) >= 0;
  const state = admit(kind, node, { around: search.around, holds });
  if (state === "resources" && node.allowed !== undefined && !node.allowed.includes(1)) return "limits";
  if (typeof state === "string") return state;
  const type = targetType(search, { node, state, amounts: size.amounts, share });
  if (type < 0) return node.allowed !== undefined && !node.allowed.includes(1) ? "limits" : "resources";
  if (template.minValues.length > 0 && tooFewValues(node, state, size.amounts) !== undefined) return "minValues";
  return { node, state, type, left };
}

// Types larger than what is left of the limits are out: a node might become any of those that stay.
function withinLimits({ pool: { template }, limits }: PoolLeft): Uint8Array | undefined {
  if (limits === undefined) return undefined;
  return Uint8Array.from(template.capacity, capacity =>
    limits.every((rest, r) => (capacity[r] ?? 0) <= rest) ? 1 : 0,
  );
}

type Choice = { node: OpenNode; state: State; amounts: Amounts; share: Amounts };

function targetType(search: Search, choice: Choice): number {
  const { node, state, amounts, share } = choice;
  const isTrialWorth = search.pending.sizes.length <= sizesMax && search.pending.hostFloor() === 0;
  if (search.isThorough && search.exact !== undefined && isTrialWorth) return bestFilled(search, choice, search.exact);
  let best = -1;
  let most = -1;
  const ceiling = dot(search.worth, share);
  const rooms = search.rooms(node.template);
  // By price, so that of types that are equally good the larger is taken: fewer nodes.
  for (const type of state.byPrice) {
    // No type is worth more than all that is left to put on it.
    if (ceiling < most * (1 - 1e-9) * (state.priceByType[type] ?? 0)) break;
    if (!typeFits(node, type, amounts)) continue;
    const value = worthIn(search.worth, rooms[type] ?? amounts, share) / priceIn(state, type);
    if (value < most * (1 - 1e-9)) continue;
    best = type;
    most = Math.max(value, most);
  }
  return best;
}

/** So many types are filled on trial before one is chosen. */
const tried = 6;
/** Of pods on one machine. */
const many = 50;
/** Of more sizes than this a trial costs more than it saves. */
const sizesMax = 64;

/** Of the types whose room is worth most, the one that what is left fills best for the price it then has. */
function bestFilled(search: Search, { node, state, amounts, share }: Choice, exact: Float64Array): number {
  const rooms = search.rooms(node.template);
  let best = -1;
  let most = -1;
  for (const { type, value } of rememberedPromising(search, { node, state, amounts, share }, exact)) {
    if (value <= most) break;
    const room = rooms[type] ?? amounts;
    const gained = holdsMany(search, room) ? value : filledValue(search, { node, state, amounts }, { room, exact });
    if (gained <= most * (1 + 1e-9)) continue;
    best = type;
    most = gained;
  }
  return best;
}

// As long as there is plenty to put on them, which types are best does not change.
function rememberedPromising(search: Search, choice: Choice, exact: Float64Array): readonly Promising[] {
  const { node, state, amounts, share } = choice;
  if (node.allowed !== undefined || !search.isPlenty(node.template, share)) return mostPromising(search, choice, exact);
  let best = search.promisingByState.get(state);
  if (best === undefined) {
    best = mostPromising(search, { ...choice, amounts: new Float64Array(0) }, exact);
    search.promisingByState.set(state, best);
  }
  return best.every(({ type }) => typeFits(node, type, amounts)) ? best : mostPromising(search, choice, exact);
}

/** The types whose room is worth most for their price, the best first; of equals the larger. */
function mostPromising(search: Search, { node, state, amounts, share }: Choice, exact: Float64Array): Promising[] {
  const rooms = search.rooms(node.template);
  const best: Promising[] = [];
  for (const type of state.byPrice) {
    if (!typeFits(node, type, amounts)) continue;
    const value = worthIn(exact, rooms[type] ?? amounts, share) / priceIn(state, type);
    if (best.length === tried && value < (best[tried - 1]?.value ?? 0)) continue;
    const at = best.findIndex(
      other => value > other.value || (value === other.value && priceIn(state, type) > priceIn(state, other.type)),
    );
    best.splice(at < 0 ? best.length : at, 0, { type, value });
    if (best.length > tried) best.pop();
  }
  return best;
}

/** By price of what it becomes when it is filled. */
function filledValue(
  search: Search,
  { node, state, amounts }: Omit<Choice, "share">,
  { room, exact }: { room: Amounts; exact: Float64Array },
): number {
  const used = wouldUse(search, room, amounts);
  return dot(exact, used) / priceIn(state, cheapestType(node, state, used));
}

/** So many that little of the room stays unused, whichever they are. */
function holdsMany({ pending: { demand, count } }: Search, room: Amounts): boolean {
  for (let r = 0; r < room.length; r++) {
    if (r !== pods && (room[r] ?? 0) * count < many * (demand[r] ?? 0)) return false;
  }
  return true;
}

function priceIn({ priceByType }: State, type: number): number {
  return Math.max(priceByType[type] ?? 0, 1e-12);
}

function yieldOf(search: Search, { node, state, type }: Opening, share: Amounts): number {
  return worthIn(search.worth, search.rooms(node.template)[type] ?? share, share) / priceIn(state, type);
}

/** Of the room as far as it can be used. */
function worthIn(worth: Float64Array, room: Amounts, share: Amounts): number {
  let value = 0;
  for (let r = 0; r < worth.length; r++) value += (worth[r] ?? 0) * Math.min(room[r] ?? 0, share[r] ?? 0);
  return value;
}

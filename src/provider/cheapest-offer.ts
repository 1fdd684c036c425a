// Which machine a claim gets: the cheapest that meets its requirements, has room for what it asks and can be had.
// Among equals the first of the catalogue, in a zone drawn from the claim, so that many claims spread over the zones.

import type { InstanceType } from "../api/instance-type.ts";
import { capacityTypeKey, zoneKey } from "../api/node.ts";
import { nodeRequirements, type NodeRequirement } from "../api/node-selector.ts";
import { accepted, certain, type Parsed, refused } from "../api/parsed.ts";
import { compareQuantities, parseQuantity, type Quantity, zero } from "../api/quantity.ts";
import { formatSelector, type Labels, matches, type Selector } from "../api/selector.ts";
import { chance } from "../api/simulated-chance.ts";
import type { ProviderError } from "../snapshot/instance.ts";

/** One type in one zone as one capacity type. */
export type Offer = {
  readonly type: InstanceType;
  readonly labels: Labels;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: number;
  readonly isAvailable: boolean;
  /** What is left for pods. */
  readonly room: ReadonlyMap<string, Quantity>;
};

export type Wish = {
  readonly requirements: readonly NodeRequirement[];
  readonly requests: Readonly<Record<string, string | number>>;
  /** Draws the zone. */
  readonly claimUid: string;
};

/** By price; the order of the catalogue among equals. */
export function offersOf(types: readonly InstanceType[]): readonly Offer[] {
  const offers = types.flatMap(type => {
    const room = certain(quantities(type.allocatable));
    return type.offerings.map(({ requirements, price, available }) => {
      const labels = labelsOf([...type.requirements, ...requirements]);
      const zone = labels[zoneKey] ?? "";
      return { type, labels, zone, capacityType: labels[capacityTypeKey] ?? "", price, isAvailable: available, room };
    });
  });
  return offers.sort((a, b) => a.price - b.price);
}

export function cheapestOffer(
  offers: readonly Offer[],
  wish: Wish,
  hasCapacity: (offer: Offer) => boolean,
): Offer | ProviderError {
  const required = nodeRequirements(wish.requirements);
  if (!required.ok) return invalid(`The claim's requirements cannot be read: ${required.error}`);
  const requests = quantities(wish.requests);
  if (!requests.ok) return invalid(`The claim's requests cannot be read: ${requests.error}`);

  // A label that no offer speaks of is the claim's own affair: the node gets it from there.
  const selector = required.value.filter(({ key }) => offers.some(({ labels }) => Object.hasOwn(labels, key)));
  const suits = (offer: Offer) => matches(selector, offer.labels) && hasRoom(offer, requests.value);
  const canBeHad = (offer: Offer) => suits(offer) && offer.isAvailable && hasCapacity(offer);
  const at = offers.findIndex(canBeHad);
  const first = offers[at];
  if (first === undefined) return offers.some(suits) ? noCapacity : invalid(unmet(offers, selector, wish));
  const equals = ofSamePrice(offers, at).filter(offer => isElsewhere(offer, first) && canBeHad(offer));
  return equals[Math.floor(chance(wish.claimUid, "zone") * equals.length)] ?? first;
}

const noCapacity: ProviderError = {
  error: "InsufficientCapacity",
  message: "No offering that meets the claim's requirements has capacity now.",
};

/** From that one on: offers are in the order of their prices, and most of a thousand cost something else. */
function ofSamePrice(offers: readonly Offer[], from: number): readonly Offer[] {
  const price = offers[from]?.price;
  let to = from;
  while (offers[to] !== undefined && offers[to]?.price === price) to++;
  return offers.slice(from, to);
}

/** The same for the same price in another zone. */
function isElsewhere({ type, capacityType, price }: Offer, first: Offer): boolean {
  return type === first.type && capacityType === first.capacityType && price === first.price;
}

function unmet(offers: readonly Offer[], selector: Selector, { requests }: Wish): string {
  const alone = selector.find(requirement => !offers.some(({ labels }) => matches([requirement], labels)));
  if (alone !== undefined) return `No instance type meets the requirement ${formatSelector([alone])}.`;
  if (!offers.some(({ labels }) => matches(selector, labels))) {
    return `No instance type meets all requirements together: ${formatSelector(selector)}.`;
  }
  const asked = Object.entries(requests).map(([name, amount]) => `${name} ${amount}`);
  return `No instance type that meets the requirements has room for ${asked.join(", ")}.`;
}

function hasRoom({ room }: Offer, requests: ReadonlyMap<string, Quantity>): boolean {
  for (const [name, wanted] of requests) if (compareQuantities(room.get(name) ?? zero, wanted) < 0) return false;
  return true;
}

function quantities(list: Readonly<Record<string, string | number>>): Parsed<ReadonlyMap<string, Quantity>> {
  const quantityByName = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(list)) {
    const parsed = parseQuantity(String(text));
    if (!parsed.ok) return refused(`${name}: ${parsed.error}`);
    quantityByName.set(name, parsed.value);
  }
  return accepted(quantityByName);
}

/** Our own types say one value for each label. */
function labelsOf(requirements: readonly NodeRequirement[]): Labels {
  return Object.fromEntries(requirements.map(({ key, values = [] }) => [key, values[0] ?? ""]));
}

function invalid(message: string): ProviderError {
  return { error: "Invalid", message };
}

// What a node costs an hour: the price of the offering that its claim says it is. Undefined: nobody knows.

import type { InstanceType } from "../../api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../../api/node.ts";
import type { ProviderView } from "../../snapshot/picture.ts";
import type { ClaimView } from "../../snapshot/views.ts";
import { servedClass } from "../node-class.ts";
import { setsOfRequirements } from "../packing/requirements.ts";
import { allows } from "../packing/value-set.ts";

const labelsThatPrice = [zoneKey, capacityTypeKey];

export class Prices {
  readonly #provider: ProviderView;
  readonly #typesByClass = new Map<string, ReadonlyMap<string, InstanceType>>();
  readonly #priceByOffer = new Map<string, number | undefined>();

  constructor(provider: ProviderView) {
    this.#provider = provider;
  }

  of({ labels, spec }: ClaimView): number | undefined {
    const nodeClass = servedClass(spec.nodeClassRef, this.#provider);
    const typeName = labels[instanceTypeKey];
    if (nodeClass === undefined || typeName === undefined) return undefined;
    const place = labelsThatPrice.map(key => labels[key] ?? "");
    const offer = JSON.stringify([nodeClass, typeName, ...place]);
    if (!this.#priceByOffer.has(offer)) {
      const type = this.#types(JSON.stringify(nodeClass), () => this.#provider.instanceTypes(nodeClass)).get(typeName);
      this.#priceByOffer.set(offer, type && priceOf(type, labels));
    }
    return this.#priceByOffer.get(offer);
  }

  #types(key: string, load: () => readonly InstanceType[]): ReadonlyMap<string, InstanceType> {
    let types = this.#typesByClass.get(key);
    if (types === undefined) {
      types = new Map(load().map(type => [type.name, type]));
      this.#typesByClass.set(key, types);
    }
    return types;
  }
}

/** Whether more of it can be had now or not. */
function priceOf({ offerings }: InstanceType, labels: ClaimView["labels"]): number | undefined {
  return offerings.find(({ requirements }) => {
    const sets = setsOfRequirements(requirements);
    return labelsThatPrice.every(key => {
      const set = sets.get(key);
      return set === undefined || allows(set, labels[key]);
    });
  })?.price;
}

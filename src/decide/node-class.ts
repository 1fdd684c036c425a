// Whose claim or pool it is: ours if the provider serves the kind of its node class.

import type { NodeClassRef, ProviderView } from "../snapshot/picture.ts";

/** The class that an object names, or the provider's default. Undefined: it is somebody else's, or there is none. */
export function servedClass(ref: NodeClassRef | undefined, provider: ProviderView): NodeClassRef | undefined {
  const nodeClass = ref ?? provider.defaultClass;
  return nodeClass !== undefined && provider.serves(nodeClass) ? nodeClass : undefined;
}

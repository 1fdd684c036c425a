// Whose claim or pool it is: ours if the provider serves the kind of its node class. And how the class is named on them.

import { labelValueErrors } from "../api/name.ts";
import { nodeClassKey } from "../api/well-known.ts";
import type { NodeClassRef, ProviderView } from "../snapshot/picture.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** The class that an object names, or the provider's default. Undefined: it is somebody else's, or there is none. */
export function servedClass(ref: NodeClassRef | undefined, provider: ProviderView): NodeClassRef | undefined {
  const nodeClass = ref ?? provider.defaultClass;
  return nodeClass !== undefined && provider.serves(nodeClass) ? nodeClass : undefined;
}

/** A name may be longer than a label's value, and a claim without the label would never begin: such a one is cut. */
export function nodeClassLabel(nodeClass: NodeClassRef): Readonly<Record<string, string>> {
  const { name } = nodeClass;
  const value = labelValueErrors(name).length === 0 ? name : shortened(name);
  return { [nodeClassKey(nodeClass)]: value };
}

// What is left stays readable; the fingerprint keeps two that begin alike apart.
function shortened(name: string): string {
  const readable = name.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 54);
  return `${readable.replace(/^-+/, "")}-${fingerprintOf(name)}`.replace(/^-/, "");
}

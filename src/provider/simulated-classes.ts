// SimulatedNodeClasses as the provider last saw them: what each offers, and whether it can be used. The class `default`
// needs no object: without one its defaults hold.

import {
  effectiveSimulatedNodeClass,
  type EffectiveSimulatedNodeClass,
} from "../api/effective-simulated-node-class.ts";
import type { InstanceType } from "../api/instance-type.ts";
import type { KubeObject } from "../api/meta.ts";
import { simulatedCatalogue } from "../api/simulated-catalogue.ts";
import { simulatedNodeClasses, type SimulatedNodeClass } from "../api/simulated-node-class.ts";
import type { Fed, Feed } from "../control/ports.ts";
import type { NodeClassRef, NodeClassState } from "../snapshot/picture.ts";
import type { ClaimView } from "../snapshot/views.ts";
import { type Offer, offersOf } from "./cheapest-offer.ts";

export type ListedTypes = SimulatedNodeClass["spec"]["instanceTypes"];

export type ClassView = {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly effective: EffectiveSimulatedNodeClass;
  readonly types: readonly InstanceType[];
  readonly offers: readonly Offer[];
  /** Why it offers nothing. */
  readonly invalid?: string;
};

const { resource } = simulatedNodeClasses;
const { group, kind } = resource;
export const defaultClass: NodeClassRef = { group, kind, name: "default" };

/** The same for everybody, and hundreds of types long: made once. */
let usual: ClassView | undefined;

function unwritten(instanceTypes: ListedTypes | undefined): ClassView {
  return classView({ name: defaultClass.name, uid: "", generation: 0, isDeleting: false }, {}, instanceTypes);
}

export class SimulatedClasses {
  readonly #classByName = new Map<string, ClassView>();
  readonly #listeners: (() => void)[] = [];
  readonly #instanceTypes: ListedTypes | undefined;
  /** Made when somebody asks for it: most clusters have the class. */
  #unwritten: ClassView | undefined;
  readonly #fed: Fed;
  /** Once is enough: while a lost watch is made good, the classes are as they were last seen. */
  #isListed = false;

  /** `instanceTypes` stand in for the default catalogue, in classes that say nothing of types. */
  constructor(feed: Feed, instanceTypes: ListedTypes | undefined) {
    this.#instanceTypes = instanceTypes;
    const project = (raw: KubeObject, previous: ClassView | undefined) => projected(raw, previous, instanceTypes);
    const put = (view: ClassView) => {
      this.#classByName.set(view.name, view);
      this.#tell();
    };
    const deleted = ({ name }: ClassView) => {
      this.#classByName.delete(name);
      this.#tell();
    };
    const synced = () => {
      this.#isListed = true;
      this.#tell();
    };
    this.#fed = feed<ClassView>({ resource, project, handlers: { added: put, updated: put, deleted, synced } });
  }

  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }

  stop(): void {
    this.#fed.stop();
  }

  serves(ref: Pick<NodeClassRef, "group" | "kind">): boolean {
    return ref.group === group && ref.kind === kind;
  }

  get(ref: NodeClassRef): ClassView | undefined {
    if (!this.serves(ref)) return undefined;
    return this.#classByName.get(ref.name) ?? (ref.name === defaultClass.name ? this.#default() : undefined);
  }

  #default(): ClassView {
    const types = this.#instanceTypes;
    this.#unwritten ??= types === undefined ? (usual ??= unwritten(undefined)) : unwritten(types);
    return this.#unwritten;
  }

  state(ref: NodeClassRef): NodeClassState {
    const called = `${ref.kind} ${ref.name}`;
    if (!this.serves(ref)) return { state: "NotFound", message: `${called} is not of the simulated provider.` };
    // Not yet seen is not the same as absent.
    if (!this.#isListed) return { state: "NotReady", message: `${called}: the classes have not been listed yet.` };
    const view = this.get(ref);
    if (view === undefined) return { state: "NotFound", message: `There is no ${called}: create it.` };
    if (view.isDeleting) return { state: "Terminating", message: `${called} is being deleted.` };
    if (view.invalid !== undefined) return { state: "NotReady", message: `${called} offers nothing: ${view.invalid}` };
    return { state: "Ready", generation: view.generation };
  }

  /** Whether machines of the claim's class run something else by now. */
  driftOf({ name, spec, status }: ClaimView): { reason: string; message: string } | undefined {
    const ref = spec.nodeClassRef ?? defaultClass;
    const image = this.state(ref).state === "Ready" ? this.get(ref)?.effective.image : undefined;
    if (image === undefined || image === status.imageID) return undefined;
    const message = `${ref.kind} ${ref.name} has image ${image}, and claim ${name} ${status.imageID ?? "none"}.`;
    return { reason: "ImageDrifted", message };
  }

  #tell(): void {
    for (const changed of this.#listeners) changed();
  }
}

function projected(raw: KubeObject, previous: ClassView | undefined, instanceTypes: ListedTypes | undefined) {
  const { metadata, spec } = raw as KubeObject & Pick<SimulatedNodeClass, "spec">;
  const { name, uid, generation = 0, deletionTimestamp } = metadata;
  const isDeleting = deletionTimestamp !== undefined;
  const isSame = previous?.uid === uid && previous.generation === generation && previous.isDeleting === isDeleting;
  return isSame ? previous : classView({ name, uid, generation, isDeleting }, spec, instanceTypes);
}

function classView(
  meta: Pick<ClassView, "name" | "uid" | "generation" | "isDeleting">,
  spec: SimulatedNodeClass["spec"],
  instanceTypes: ListedTypes | undefined,
): ClassView {
  const isSilent = spec.catalogue === undefined && spec.instanceTypes === undefined;
  const effective = effectiveSimulatedNodeClass(isSilent && instanceTypes ? { ...spec, instanceTypes } : spec);
  const types = simulatedCatalogue(effective);
  if (!types.ok) return { ...meta, effective, types: [], offers: [], invalid: types.error };
  return { ...meta, effective, types: types.value, offers: offersOf(types.value) };
}

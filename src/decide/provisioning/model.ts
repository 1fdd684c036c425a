// The nodes of the cluster and the pods on them in numbers, kept beside the picture for searches: each begins by taking
// in what has changed since the last one, and works on what it then shows, whatever changes meanwhile.

import type { Pod } from "../../api/pod.ts";
import type { Instant } from "../../api/time.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { Kind, View } from "../../snapshot/kind.ts";
import type { Plan } from "../../snapshot/placement.ts";
import type { NodeView, PodView } from "../../snapshot/views.ts";
import { isNameTaken } from "../claim-manifest.ts";
import { offerAnew } from "../packing/build.ts";
import type { Effort } from "../packing/effort.ts";
import type { GroundChange } from "../packing/ground.ts";
import { Picture as Packing } from "../packing/picture.ts";
import { emptyProblem } from "../packing/problem.ts";
import { solveInSlices } from "../packing/solve.ts";
import { type Offers, offersAt } from "./offers.ts";
import { planOf } from "./plan.ts";
import { daemonShape, hostShape, namespaceShape, podShape } from "./shapes.ts";

type GroundKind = "namespace" | "volume-claim" | "volume" | "storage-class";
const groundKinds: ReadonlySet<Kind> = new Set<GroundKind>(["namespace", "volume-claim", "volume", "storage-class"]);
type Named = { readonly kind: GroundKind; readonly name: string; readonly namespace?: string };

/** What searches intern stays; after so many of them it is time to forget it. */
const searchesMax = 1_000;

export type WhatIf = {
  readonly packing: Packing;
  readonly offers: Offers;
  readonly at: Instant;
  /** Pods that want a node and have no place. */
  readonly waiting: readonly Pod[];
};

export class PackingModel {
  readonly #picture: ClusterPicture;
  #packing: Packing | undefined;
  #searchCount = 0;
  readonly #nodes = new Set<string>();
  readonly #csiNodes = new Set<string>();
  readonly #ground = new Map<string, Named>();
  #areDaemonsChanged = false;
  readonly #pods = new Map<string, Pick<PodView, "namespace" | "name">>();

  constructor(picture: ClusterPicture) {
    this.#picture = picture;
    picture.listen((kind, { before, after }) => {
      if (before !== undefined && before !== after) this.#changed(kind, before);
      if (after !== undefined) this.#changed(kind, after);
    });
  }

  /** In slices: each step is a small part of the work, which `effort` counts. To give up, `return` it. */
  *search(now: () => Instant, effort: Effort): Generator<void, Plan> {
    const picture = this.#picture;
    picture.beginSearch(now());
    const packing = yield* this.#caughtUp(effort);
    // From here on nothing of the picture is read: what is decided is decided on what was there now.
    const at = now();
    const offers = offersAt(picture, at);
    const asked = picture.unplacedPods();
    effort.work += asked.length * 0.2 + offers.upcoming.length * 20;
    yield;
    yield* offerAnew(packing, offers, effort);
    const pods = yield* shapesOf(asked, effort);
    const answer = yield* solveInSlices(packing, pods, effort);
    return yield* planOf(answer, { offers, now: at, isTaken: name => isNameTaken(name, picture) }, effort);
  }

  /** For questions what if: as it is now, with what could be launched. Nodes on their way take nobody who runs. */
  *whatIf(now: () => Instant, effort: Effort): Generator<void, WhatIf> {
    const picture = this.#picture;
    const packing = yield* this.#caughtUp(effort);
    // What changes from here on is not in the answer.
    picture.beginMoves();
    const at = now();
    const offers = offersAt(picture, at);
    const unplaced = picture.unplacedPods();
    yield;
    yield* offerAnew(packing, { pools: offers.pools, upcoming: [] }, effort);
    return { packing, offers, at, waiting: yield* shapesOf(unplaced, effort) };
  }

  /** What went wrong may have left it half changed: the next search begins with all that is there. */
  forget(): void {
    this.#packing = undefined;
  }

  #changed(kind: Kind, view: View): void {
    if (this.#packing === undefined) return;
    // The kind says which view it is.
    if (groundKinds.has(kind)) this.#groundChanged({ ...(view as Named), kind: kind as GroundKind });
    if (kind === "daemon-set") this.#areDaemonsChanged = true;
    if (kind === "pod") this.#podChanged(view as PodView);
    if (kind === "node") this.#nodes.add((view as NodeView).name);
    if (kind === "csi-node") this.#csiNodes.add((view as { name: string }).name);
    if (kind === "claim" || kind === "action") for (const name of this.#nodesBy(kind, view)) this.#nodes.add(name);
  }

  #groundChanged({ kind, name, namespace }: Named): void {
    const named = { kind, name, ...(namespace === undefined ? {} : { namespace }) };
    this.#ground.set([kind, namespace, name].join("/"), named);
  }

  #podChanged({ namespace, name }: PodView): void {
    this.#pods.set(`${namespace}/${name}`, { namespace, name });
  }

  // Whether a node is going, or has come up, is told by its claim and by actions too.
  #nodesBy(kind: "claim" | "action", view: View): readonly string[] {
    if (kind === "claim" && "providerID" in view) {
      return this.#picture.nodesWith(view.providerID).map(({ name }) => name);
    }
    return "spec" in view && "node" in view.spec ? [view.spec.node.name] : [];
  }

  *#caughtUp(effort: Effort): Generator<void, Packing> {
    for (;;) {
      if (this.#packing === undefined || this.#searchCount >= searchesMax) this.#packing = this.#begun();
      const packing = this.#packing;
      if (this.#ground.size > 0 || this.#areDaemonsChanged) yield* this.#takeGround(packing, effort);
      else if (this.#nodes.size > 0) yield* this.#takeNodes(packing, effort);
      else if (this.#pods.size > 0) yield* this.#takePods(packing, effort);
      else {
        this.#searchCount++;
        return packing;
      }
    }
  }

  #begun(): Packing {
    const picture = this.#picture;
    this.#searchCount = 0;
    this.#csiNodes.clear();
    this.#ground.clear();
    this.#areDaemonsChanged = false;
    const nodes = picture.nodes().map(node => hostShape(node, picture.claimOf(node)));
    for (const { name } of picture.nodes()) this.#nodes.add(name);
    for (const pod of picture.every("pod")) if (this.#nodeOf(pod) !== undefined) this.#podChanged(pod);
    return new Packing({
      ...emptyProblem,
      nodes,
      daemons: this.#daemons(),
      namespaces: [...picture.every("namespace")].map(namespaceShape),
      claims: [...picture.every("volume-claim")].flatMap(({ claim }) => claim ?? []),
      volumes: [...picture.every("volume")].map(({ volume }) => volume),
      storageClasses: [...picture.every("storage-class")].map(({ storageClass }) => storageClass),
      csiNodes: [...picture.every("csi-node")].map(({ csiNode }) => csiNode),
    });
  }

  #daemons(): Pod[] {
    return [...this.#picture.every("daemon-set")].map(daemonShape);
  }

  *#takeGround(packing: Packing, effort: Effort): Generator<void, void> {
    if (this.#areDaemonsChanged) packing.putDaemons(this.#daemons());
    this.#areDaemonsChanged = false;
    for (const [key, named] of this.#ground) {
      this.#ground.delete(key);
      packing.putGround(this.#groundOf(named));
      effort.work += 10 + packing.effort();
      yield;
    }
  }

  #groundOf({ kind, name, namespace = "" }: Named): GroundChange {
    const picture = this.#picture;
    switch (kind) {
      case "volume-claim":
        return { kind: "claim", key: `${namespace}/${name}`, claim: picture.get(kind, name, namespace)?.claim };
      case "volume":
        return { kind: "volume", key: name, volume: picture.get(kind, name)?.volume };
      case "storage-class":
        return { kind: "class", key: name, storageClass: picture.get(kind, name)?.storageClass };
      case "namespace": {
        const view = picture.get(kind, name);
        return { kind: "namespace", key: name, namespace: view && namespaceShape(view) };
      }
    }
  }

  *#takeNodes(packing: Packing, effort: Effort): Generator<void, void> {
    const picture = this.#picture;
    for (const name of this.#csiNodes) packing.putCsiNode(name, picture.get("csi-node", name)?.csiNode);
    this.#csiNodes.clear();
    try {
      for (const name of taken(this.#nodes)) {
        const node = picture.node(name);
        const claim = node && picture.claimOf(node);
        if (node === undefined || picture.isGoing(name)) packing.removeNode(name);
        else packing.putNode(hostShape(node, claim));
        // Who was expected on the claim is from now on expected here.
        for (const pod of claim ? picture.expectedOn(claim.name) : []) this.#podChanged(pod);
        effort.work += 15;
        yield;
      }
    } finally {
      // Also where the search is given up half-way: what was taken in stays.
      packing.hosts.sort();
    }
  }

  *#takePods(packing: Packing, effort: Effort): Generator<void, void> {
    for (const key of taken(this.#pods.keys(), this.#pods)) {
      const [namespace = "", name = ""] = key.split("/");
      const pod = this.#picture.pod(namespace, name);
      const nodeName = pod && this.#nodeOf(pod);
      if (pod === undefined || nodeName === undefined) packing.removePod(key);
      else packing.putPod(podShape(pod, nodeName));
      effort.work += 4;
      yield;
    }
  }

  /** Where an earlier search or another's word expects it, or where it is. */
  #nodeOf({ uid, nodeName }: PodView): string | undefined {
    const placement = this.#picture.placementOf(uid);
    if (placement?.on === "node") return placement.name;
    const claim = placement?.on === "claim" ? this.#picture.claim(placement.name) : undefined;
    return (claim && this.#picture.nodesOf(claim)[0]?.name) ?? nodeName;
  }
}

function* shapesOf(views: readonly PodView[], effort: Effort): Generator<void, Pod[]> {
  const shapes: Pod[] = [];
  for (const view of views) {
    shapes.push(podShape(view));
    effort.work += 2;
    if (shapes.length % 256 === 0) yield;
  }
  return shapes;
}

/** Each is taken out before it is looked at: if it changes again, it is looked at again. */
function* taken(
  keys: Iterable<string>,
  from: { delete(key: string): boolean } = keys as Set<string>,
): Iterable<string> {
  for (const key of keys) {
    from.delete(key);
    yield key;
  }
}

// What is looked at to tell which pods want a node, and who is told of it.

import type { Instant } from "../api/time.ts";
import type { Subject } from "./picture.ts";
import type { ActionView, ClaimView, NodeView, PodView, PoolView } from "./views.ts";

export type LookUps = {
  node(name: string): NodeView | undefined;
  nodeByUid(uid: string): NodeView | undefined;
  nodesWith(providerID: string | undefined): readonly NodeView[];
  claim(name: string): ClaimView | undefined;
  claimsWith(providerID: string | undefined): readonly ClaimView[];
  pool(name: string): PoolView | undefined;
  openActionOn(nodeUid: string): ActionView | undefined;
  podsOn(nodeName: string): readonly PodView[];
};

export type Handlers = {
  now(): Instant;
  mark(subject: Subject): void;
  /** The pod counts somewhere else than before. */
  moved(pod: PodView): void;
  /** The node that is to take it, if its own goes by a move. */
  promisedTo(pod: PodView): string | undefined;
};

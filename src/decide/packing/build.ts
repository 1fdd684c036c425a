// Builds a picture from a problem, in slices, and takes changes into it one by one.

import { daemonRoom } from "./daemons.ts";
import type { Pod } from "../../api/pod.ts";
import { Picture } from "./picture.ts";
import type { ExistingNode, Problem } from "./problem.ts";
import { atOnce, type Effort } from "./effort.ts";

export function* buildPicture(problem: Problem, effort: Effort): Generator<void, Picture> {
  const picture = new Picture(problem);
  yield* picture.offer(problem.pools, effort);
  yield* withDaemons(picture, effort);
  for (const node of problem.nodes) {
    picture.putNode(node);
    effort.work += 10;
    if (effort.work % 1000 < 10) yield;
  }
  picture.hosts.sort();
  for (const pod of problem.bound) {
    picture.putPod(pod);
    effort.work += 3 + picture.effort();
    if (effort.work % 1000 < 3) yield;
  }
  yield* withUpcoming(picture, problem.upcoming, effort);
  return picture;
}

/** Other pools and other nodes on their way for a picture that is kept. */
export function* offerAnew(
  picture: Picture,
  { pools, upcoming }: Pick<Problem, "pools" | "upcoming">,
  effort: Effort,
): Generator<void, void> {
  picture.withdraw();
  yield* picture.offer(pools, effort);
  yield* withDaemons(picture, effort);
  yield* withUpcoming(picture, upcoming, effort);
}

function* withDaemons(picture: Picture, effort: Effort): Generator<void, void> {
  for (const { template } of picture.pools) {
    daemonRoom(picture, template);
    effort.work += 1 + template.types.length * picture.daemons.length;
    yield;
  }
}

function* withUpcoming(picture: Picture, nodes: Problem["upcoming"], effort: Effort): Generator<void, void> {
  const upcomingByName = [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const upcoming of upcomingByName) {
    yield* picture.addUpcoming(upcoming, effort);
    yield;
  }
}

export function pictureOf(problem: Problem): Picture {
  return atOnce(buildPicture(problem, { work: 0 }));
}

export type Change =
  | { kind: "node"; node: ExistingNode }
  | { kind: "node-gone"; name: string }
  | { kind: "pod"; pod: Pod }
  /** By namespace and name. */
  | { kind: "pod-gone"; pod: string };

export function changePicture(picture: Picture, change: Change): void {
  switch (change.kind) {
    case "node": {
      const isKnown = picture.hosts.indexByName.has(change.node.node.metadata.name);
      picture.putNode(change.node);
      if (!isKnown || change.node.initialized !== undefined) picture.hosts.sort();
      return;
    }
    case "node-gone":
      picture.removeNode(change.name);
      picture.hosts.sort();
      return;
    case "pod":
      picture.putPod(change.pod);
      return;
    case "pod-gone":
      picture.removePod(change.pod);
  }
}

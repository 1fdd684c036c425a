// Builds a picture from a problem, in slices.

import { daemonRoom } from "./daemons.ts";
import { Picture } from "./picture.ts";
import type { Problem } from "./problem.ts";
import type { Effort } from "./solve.ts";

export function* buildPicture(problem: Problem, effort: Effort): Generator<void, Picture> {
  const picture = new Picture(problem);
  for (const { template } of picture.pools) {
    daemonRoom(picture, template);
    effort.work += template.types.length * 20;
    yield;
  }
  for (const node of problem.nodes) {
    picture.putNode(node);
    effort.work += 10;
    if (effort.work % 1000 < 10) yield;
  }
  picture.hosts.sort();
  for (const pod of problem.bound) {
    picture.putPod(pod);
    effort.work += 3;
    if (effort.work % 1000 < 3) yield;
  }
  for (const upcoming of problem.upcoming) {
    picture.addUpcoming(upcoming);
    effort.work += upcoming.instanceTypes.length * 20;
    yield;
  }
  return picture;
}

// What if these nodes were gone: where would their pods go? Only they are placed again; the picture of the rest is used
// as it is, and is afterwards as it was.

import type { Pod } from "../../api/pod.ts";
import type { Answer } from "./answer.ts";
import type { Picture } from "./picture.ts";
import type { Resident } from "./picture-parts.ts";
import { solveOn } from "./solve.ts";

/** `more`: pods that wait anyway and would compete for the same room. */
export function whatIfGone(picture: Picture, nodes: readonly string[], more: readonly Pod[] = []): Answer {
  const gone = new Set(nodes.flatMap(name => picture.hosts.indexByName.get(name) ?? []));
  const residents = [...gone].map(index => ({ index, all: [...(picture.residents[index]?.values() ?? [])] }));
  for (const { index, all } of residents) {
    for (const one of all) picture.occupy(index, one, -1);
    picture.hide(index, 1);
  }
  try {
    const pods = residents.flatMap(({ all }) => all.filter(needsPlace).map(({ pod }) => pod));
    return solveOn(picture, [...pods, ...more], gone);
  } finally {
    for (const { index, all } of residents) {
      picture.hide(index, -1);
      for (const one of all) picture.occupy(index, one, 1);
    }
  }
}

// Daemons and static pods belong to their node; what is ending anyway ends.
export function needsPlace({ pod, terminating }: Resident): boolean {
  const owners = pod.metadata.ownerReferences ?? [];
  return !terminating && !owners.some(({ kind }) => kind === "DaemonSet" || kind === "Node");
}

// Node by node: could this pod go there now, by what the scheduler insists on? Preferences do not count.

import type { Pod } from "../../api/pod.ts";
import { type HostTrouble, hostTrouble } from "./host-rules.ts";
import type { Picture } from "./picture.ts";
import { pendingOf } from "./pending.ts";
import { Search } from "./search.ts";
import { required } from "./wishes.ts";

export type Verdict = {
  node: string /** Undefined: the pod can go there. */;
  trouble: HostTrouble | "volumes" | undefined;
};

export function verdicts(picture: Picture, pod: Pod): Verdict[] {
  const wished = picture.kind(pod);
  const kind = picture.kind(pod, wished.signature, required(wished.wishes));
  const { around } = new Search(picture, pendingOf(picture, []));
  const amounts = picture.amounts(pod);
  return [...picture.hosts.order].map(index => {
    const node = picture.hosts.nodes[index]?.node.metadata.name ?? "";
    if (kind.volumes.trouble !== undefined) return { node, trouble: "volumes" };
    return { node, trouble: hostTrouble(kind, amounts, { picture, index, around }) };
  });
}

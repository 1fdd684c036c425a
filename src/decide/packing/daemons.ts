// What the pods of DaemonSets take of each type that a pool can launch: it is set aside before any other pod is placed.
// They ignore preferences, and where a daemon may or may not come, room is kept for it.

import { sum } from "./node-view.ts";
import type { PictureParts } from "./picture-parts.ts";
import type { Pod } from "../../api/pod.ts";
import type { Amounts } from "./resources.ts";
import { required } from "./wishes.ts";
import type { Template } from "./template.ts";

export function daemonRoom(picture: PictureParts, template: Template): void {
  for (const daemon of picture.daemons) {
    const plain = picture.kind(daemon);
    const kind = picture.kind(daemon, plain.signature, required(plain.wishes));
    if (!template.toleratedBy(kind.tolerations, false)) continue;
    const amounts = picture.amounts(daemon);
    const states = kind.alternatives.flatMap(alternative => template.join(template.root, alternative) ?? []);
    if (states.length > 0) template.daemonPorts = [...template.daemonPorts, ...kind.ports];
    for (const [type, room] of template.room.entries()) {
      if (!states.some(state => Number.isFinite(state.priceByType[type] ?? Number.POSITIVE_INFINITY))) continue;
      template.daemons[type] = sum(template.daemons[type] ?? amounts.map(() => 0), amounts);
      for (const [r, amount] of amounts.entries()) if (r < room.length) room[r] = (room[r] ?? 0) - amount;
    }
  }
}

export function isDaemon({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") ?? false;
}

/** What the daemons of a host will need beyond those that are there. */
export function daemonsToCome(picture: PictureParts, index: number): Amounts {
  let missing: Amounts = new Float64Array(picture.space.names.length);
  for (const daemon of picture.daemons) {
    const plain = picture.kind(daemon);
    const { alternatives, tolerations } = picture.kind(daemon, plain.signature, required(plain.wishes));
    const isTolerated = picture.hosts.tolerated(index, tolerations, ["NoSchedule", "NoExecute"]);
    if (isTolerated && picture.hosts.matches(index, alternatives)) missing = sum(missing, picture.amounts(daemon));
  }
  for (const { pod, amounts } of picture.residents[index]?.values() ?? []) {
    if (isDaemon(pod))
      missing = sum(
        missing,
        amounts.map(amount => -amount),
      );
  }
  return missing.map(amount => Math.max(0, amount));
}

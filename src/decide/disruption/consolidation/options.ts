// What a choice of who goes is made from: the nodes that may go, what that is worth, and all that may take their pods.

import type { Pod } from "../../../api/pod.ts";
import { hardnessOf } from "../../pod-hardness.ts";
import type { Picture } from "../../packing/picture.ts";
import type { LabelGroup } from "../../packing/census.ts";
import type { Resident } from "../../packing/picture-parts.ts";
import { needsPlace } from "../../packing/what-if.ts";
import type { Option } from "./choice.ts";
import type { Course } from "./course.ts";
import type { MovingPod, Row } from "./likely-places.ts";
import type { Spread } from "./spread-counts.ts";
import type { Candidate } from "./question.ts";

/** Those that may go first, in the order in which they had better; in slices. */
export function* optionsOf({ standings, question }: Course, mayGo: readonly Candidate[]): Generator<void, Option[]> {
  const { picture, gone, effort } = standings.input;
  const isTarget = new Set(question.targets);
  const isMovable = new Set(mayGo.map(({ name }) => name));
  const lasting = question.targets.filter(name => !isMovable.has(name));
  const options: Option[] = [];
  for (const name of [...standings.inOrder.flatMap(one => (isMovable.has(one.name) ? one.name : [])), ...lasting]) {
    const index = picture.hosts.indexByName.get(name);
    if (index === undefined || gone.has(index)) continue;
    const worth = isMovable.has(name) ? standings.worthOf({ name }) : undefined;
    options.push({ ...rowOf(picture, index, worth !== undefined), name, takesPods: isTarget.has(name), worth });
    effort.work += 5;
    if (options.length % 64 === 0) yield;
  }
  return options;
}

function rowOf(picture: Picture, index: number, isMovable: boolean): Omit<Row, "takesPods"> {
  const { hosts, residents, space } = picture;
  const free = hosts.free.subarray(index * hosts.stride, (index + 1) * hosts.stride);
  const capacity = space.amounts(hosts.nodes[index]?.node.status?.allocatable);
  const own = isMovable ? [...(residents[index] ?? [])] : [];
  const pods = own.flatMap(([key, one]) => (needsPlace(one) ? movingPod(picture, key, one) : []));
  return { free, capacity, pods, ...about(hosts, index) };
}

function about(hosts: Picture["hosts"], index: number): Pick<Row, "labelOf" | "countOf"> {
  return {
    labelOf: key => hosts.column(key)[index] ?? 0,
    countOf: workload => (workload as LabelGroup).staying.get(index) ?? 0,
  };
}

/** Who says how its pods are to be spread is not spread by default. */
function movingPod(picture: Picture, key: string, { pod, amounts, footprint }: Resident): MovingPod {
  const moving = { key, amounts, hardness: hardnessOf(pod.spec, amounts) };
  if ((pod.spec.topologySpreadConstraints?.length ?? 0) === 0) return { ...moving, workload: footprint.group };
  const spread = spreadOf(picture, pod);
  return { ...moving, ...(spread === undefined ? {} : { spread }) };
}

/** Over more than hosts: nobody stays on the host that goes. */
function spreadOf(picture: Picture, pod: Pod): Spread | undefined {
  const rule = picture.kind(pod).spreads.find(({ count }) => !count.isHost);
  if (rule === undefined) return undefined;
  const { counter } = rule.count;
  const countByValue = new Map(counter.realDomains().map(value => [value, counter.count(value)]));
  return { id: rule.count, key: counter.key, maxSkew: rule.maxSkew, countByValue };
}

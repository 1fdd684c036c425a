// Random claims, volumes and attach limits. Volumes are taken by claims that no pod has, so that none is ever found for
// a claim that waits for its first consumer: packing does not look for one either.

import fc, { type Arbitrary } from "fast-check";
import { zoneKey } from "../../../src/api/node.ts";
import type { Volume } from "../../../src/api/pod.ts";
import type { CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../../../src/api/storage.ts";
import type { Labels } from "../../../src/api/selector.ts";
import { sparse } from "./sparse.ts";
import * as words from "./words.ts";

const { oneOf } = words;
const drivers = ["csi.example.com", "disk.example.com"] as const;
const claimNames = ["c0", "c1", "c2", "c3"] as const;
const volumeNames = ["v0", "v1", "v2"] as const;

export const storageClasses: readonly StorageClass[] = [
  { metadata: { name: "late" }, provisioner: drivers[0], volumeBindingMode: "WaitForFirstConsumer" },
  {
    metadata: { name: "zonal" },
    provisioner: drivers[1],
    volumeBindingMode: "WaitForFirstConsumer",
    allowedTopologies: [
      { matchLabelExpressions: [{ key: zoneKey, values: ["z1"] }] },
      {
        matchLabelExpressions: [
          { key: zoneKey, values: ["z2", "z3"] },
          { key: "rack", values: ["r1"] },
        ],
      },
    ],
  },
  { metadata: { name: "now" }, provisioner: drivers[0], volumeBindingMode: "Immediate" },
  {
    metadata: { name: "static" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  },
];

const claim = (name: string, namespace: string): Arbitrary<PersistentVolumeClaim> =>
  fc
    .tuple(
      oneOf("ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"),
      fc.oneof(
        { weight: 9, arbitrary: oneOf(...volumeNames).map(volumeName => bound(volumeName)) },
        { weight: 9, arbitrary: oneOf("late", "zonal").map(storageClassName => ({ spec: { storageClassName } })) },
        {
          weight: 1,
          arbitrary: oneOf("now", "static", "absent").map(storageClassName => ({ spec: { storageClassName } })),
        },
        { weight: 1, arbitrary: fc.constant({ spec: {} }) },
        { weight: 1, arbitrary: fc.constant(bound("v9")) },
        { weight: 1, arbitrary: fc.constant({ ...bound("v9"), status: { phase: "Lost" } }) },
        { weight: 1, arbitrary: oneOf(...words.nodeNames).map(beingMadeFor) },
      ),
    )
    .map(([mode, { spec, annotations, status }]: [string, ClaimState]) => ({
      metadata: { name, namespace, ...(annotations && { annotations }) },
      spec: { ...spec, accessModes: [mode] },
      ...(status && { status }),
    }));

type ClaimState = Pick<PersistentVolumeClaim, "spec" | "status"> & { annotations?: Labels };

function bound(volumeName: string): ClaimState {
  return {
    annotations: { "pv.kubernetes.io/bind-completed": "yes" },
    spec: { volumeName, storageClassName: "manual" },
    status: { phase: "Bound" },
  };
}

function beingMadeFor(node: string): ClaimState {
  return { annotations: { "volume.kubernetes.io/selected-node": node }, spec: { storageClassName: "late" } };
}

/** Each is absent now and then. */
export const claims: Arbitrary<PersistentVolumeClaim[]> = fc
  .tuple(...["default", "other"].flatMap(namespace => claimNames.map(name => claim(name, namespace))))
  .chain(all =>
    fc
      .array(fc.nat({ max: 15 }), { minLength: all.length, maxLength: all.length })
      .map(dice => all.filter((_, index) => dice[index] !== 0)),
  );

const volume: Arbitrary<Omit<PersistentVolume, "metadata"> & { labels?: Record<string, string> }> = fc
  .tuple(
    sparse(3, { labels: oneOf("z1", "z2", "z1__z3").map(value => ({ [zoneKey]: value })) }),
    oneOf(...drivers).chain(driver => oneOf("h0", "h1", "h2", "h3").map(volumeHandle => ({ driver, volumeHandle }))),
    sparse(2, {
      nodeAffinity: fc
        .array(words.nodeRequirement, { minLength: 1, maxLength: 2 })
        .map(matchExpressions => ({ required: { nodeSelectorTerms: [{ matchExpressions }] } })),
    }),
  )
  .map(([labels, csi, where]) => ({ ...labels, spec: { csi, storageClassName: "manual", ...where } }));

export const volumes: Arbitrary<PersistentVolume[]> = fc.tuple(...volumeNames.map(() => volume)).map(all =>
  all.map(({ labels, ...rest }, index) => ({
    ...rest,
    metadata: { name: volumeNames[index] ?? "", ...(labels && { labels }) },
  })),
);

export const csiNodes: Arbitrary<CsiNode[]> = fc
  .array(fc.array(fc.record({ name: oneOf(...drivers), count: oneOf(0, 1, 1, 2, undefined) }), { maxLength: 2 }), {
    maxLength: words.nodeNames.length,
  })
  .map(all =>
    all.map((limits, index) => ({
      metadata: { name: words.nodeNames[index] ?? "" },
      spec: {
        drivers: limits
          .filter(({ name }, at) => limits.findIndex(other => other.name === name) === at)
          .map(({ name, count }) => ({ name, ...(count !== undefined && { allocatable: { count } }) })),
      },
    })),
  );

/** Absent claims too; a scratch volume has a claim of the pod's own. */
export const podVolumes: Arbitrary<Volume[]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .uniqueArray(oneOf(...claimNames), { minLength: 1, maxLength: 3 })
      .map(names => names.map(claimName => ({ name: claimName, persistentVolumeClaim: { claimName } }))),
  },
  { weight: 1, arbitrary: fc.constant<Volume[]>([{ name: "scratch", ephemeral: {} }]) },
);

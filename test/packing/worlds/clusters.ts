// Random small clusters: nodes, pods on them, pods to place, and storage. What a cluster looks like before anybody asks
// for new nodes.

import fc, { type Arbitrary } from "fast-check";
import { hostnameKey, type Node, zoneKey } from "../../../src/api/node.ts";
import type { Pod, PodStatus } from "../../../src/api/pod.ts";
import type { PersistentVolumeClaim } from "../../../src/api/storage.ts";
import { emptyProblem, type Problem } from "../../../src/decide/packing/problem.ts";
import { type Draft, draft, requests, spreadDraft } from "./pods.ts";
import { sparse } from "./sparse.ts";
import { claims, csiNodes, podVolumes, storageClasses, volumes } from "./storage.ts";
import * as words from "./words.ts";

const { oneOf } = words;

const mostly = <T>(usual: Arbitrary<T>, rare: Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: rare });

const nodeLabels = (name: string): Arbitrary<Record<string, string>> =>
  fc
    .tuple(
      mostly(fc.constant({ [hostnameKey]: name }), fc.constant({})),
      mostly(
        oneOf(...words.zones).map(zone => ({ [zoneKey]: zone })),
        fc.constant({}),
      ),
      sparse(2, { rack: oneOf("r1", "r2"), tier: oneOf("gold", "tin"), size: oneOf("4", "5", "8", "16", "big") }),
    )
    .map(parts => Object.assign({}, ...parts));

const allocatable = fc
  .tuple(
    fc.record({
      cpu: oneOf("2", "4", "8", "2500m"),
      memory: oneOf("2Gi", "8Gi", "16Gi"),
      pods: oneOf("110", "110", "110", "3"),
    }),
    sparse(2, { "example.com/gpu": oneOf("1", "2"), "ephemeral-storage": oneOf("2Gi", "8Gi") }),
  )
  .map(([usual, rare]) => ({ ...usual, ...rare }));

const node = (name: string): Arbitrary<Node> =>
  fc
    .tuple(
      nodeLabels(name),
      sparse(6, {
        taints: fc.uniqueArray(words.taint, { minLength: 1, maxLength: 2, selector: one => one.key + one.effect }),
      }),
      sparse(30, { unschedulable: fc.constant(true) }),
      allocatable,
    )
    .map(([labels, taints, cordon, room]) => ({
      metadata: { name, labels },
      spec: { ...taints, ...cordon },
      status: { allocatable: room },
    }));

const nodes: Arbitrary<Node[]> = fc
  .integer({ min: 1, max: words.nodeNames.length })
  .chain(count => fc.tuple(...words.nodeNames.slice(0, count).map(node)));

/** Now and then one that has ended, that is on its way out, that is being resized, or whose node is not known. */
const residence = (one: Arbitrary<Draft>) =>
  fc.tuple(
    one,
    mostly(oneOf(...words.nodeNames), fc.constant("gone")),
    sparse(8, { deletionTimestamp: fc.constant("2026-01-01T00:00:00Z") }),
    fc.oneof(
      { weight: 8, arbitrary: fc.constant<PodStatus>({ phase: "Running" }) },
      { weight: 1, arbitrary: oneOf<PodStatus>({ phase: "Succeeded" }, { phase: "Failed" }) },
      {
        weight: 1,
        arbitrary: fc.tuple(requests, requests).map(([has, allocated]): PodStatus => resizing(has, allocated)),
      },
    ),
  );

function resizing(has: Record<string, string>, allocatedResources: Record<string, string>): PodStatus {
  return {
    phase: "Running",
    containerStatuses: [{ name: "main-0", resources: { requests: has }, allocatedResources }],
  };
}

function podOf(name: string, { namespace, labels, spec }: Draft): Pod {
  const uid = `${namespace}-${name}`;
  return { metadata: { name, namespace, uid, labels }, spec };
}

const boundPods = (one: Arbitrary<Draft>): Arbitrary<Pod[]> =>
  fc.array(residence(one), { maxLength: 7 }).map(all =>
    all.map(([about, nodeName, ending, status], index) => {
      const pod = podOf(`b${index}`, about);
      return { metadata: { ...pod.metadata, ...ending }, spec: { ...pod.spec, nodeName }, status };
    }),
  );

type Parts = { nodes: Node[]; bound: Pod[]; pods: Draft[] };

const assembled = ({ nodes: all, bound, pods }: Parts): Problem => ({
  ...emptyProblem,
  bound,
  nodes: all.map(one => ({ node: one })),
  pods: pods.map((one, index) => podOf(`p${index}`, one)),
  namespaces: words.namespaces,
});

/** Nodes and pods, without storage. */
export const clusters: Arbitrary<Problem> = fc
  .record({ nodes, bound: boundPods(draft), pods: fc.array(draft, { minLength: 1, maxLength: 4 }) })
  .map(assembled);

/** All about topology spread. */
export const spreadClusters: Arbitrary<Problem> = fc
  .record({ nodes, bound: boundPods(spreadDraft), pods: fc.array(spreadDraft, { minLength: 1, maxLength: 4 }) })
  .map(assembled);

const volumesByPod = fc.array(fc.option(podVolumes, { nil: undefined, freq: 2 }), { minLength: 12, maxLength: 12 });

/** The same with storage for most of the pods. */
export const clustersWithStorage: Arbitrary<Problem> = fc
  .record({ cluster: clusters, claims, volumes, csiNodes, volumesByPod, hasScratch: oneOf(true, true, false) })
  .map(({ cluster, volumesByPod: byPod, hasScratch, ...storage }) => {
    const give = (pod: Pod, index: number): Pod => {
      const given = byPod[index];
      return given === undefined ? pod : { ...pod, spec: { ...pod.spec, volumes: given } };
    };
    const pods = cluster.pods.map(give);
    const bound = cluster.bound.map((pod, index) => give(pod, index + pods.length));
    const scratch = hasScratch ? [...pods, ...bound].flatMap(scratchClaim) : [];
    return { ...cluster, ...storage, storageClasses, pods, bound, claims: [...storage.claims, ...scratch] };
  });

function scratchClaim({ metadata, spec }: Pod): PersistentVolumeClaim[] {
  const { name, namespace = "default", uid = "" } = metadata;
  if (!spec.volumes?.some(volume => volume.ephemeral !== undefined)) return [];
  const owner = { apiVersion: "v1", kind: "Pod", name, uid, controller: true };
  const claimMetadata = { name: `${name}-scratch`, namespace, ownerReferences: [owner] };
  return [{ metadata: claimMetadata, spec: { storageClassName: "zonal" } }];
}

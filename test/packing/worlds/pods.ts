// Random pods: each rule of scheduling now and then, at amounts and counts where it just holds or just does not.

import fc, { type Arbitrary } from "fast-check";
import type { NodeSelectorTerm } from "../../../src/api/node-selector.ts";
import type {
  Affinity,
  Container,
  PodAffinityTerm,
  PodSpec,
  ResourceList,
  TopologySpreadConstraint,
} from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import { sparse } from "./sparse.ts";
import * as words from "./words.ts";

const { oneOf } = words;

export const requests: Arbitrary<ResourceList> = fc
  .tuple(
    fc.record({
      cpu: oneOf("0", "0.1", "250m", "250m", "500m", "1", "1500m", "250500u"),
      memory: oneOf("0", "64Mi", "256Mi", "256Mi", "1Gi", "1073741825"),
    }),
    sparse(16, { "example.com/gpu": oneOf("1", "2", "0"), "ephemeral-storage": oneOf("1Gi", "2Gi") }),
  )
  .map(([usual, rare]) => ({ ...usual, ...rare }));

const port = fc
  .tuple(oneOf(80, 81), sparse(3, { hostIP: oneOf("10.0.0.1", "10.0.0.2", "0.0.0.0"), protocol: oneOf("UDP", "TCP") }))
  .map(([hostPort, rest]) => ({ containerPort: hostPort, hostPort, ...rest }));

const container = (name: string): Arbitrary<Container> =>
  fc
    .tuple(requests, sparse(7, { ports: port.map(one => [one]) }))
    .map(([list, rest]) => ({ name, resources: resources(list), ...rest }));

// The API server wants a limit beside a request of an extended resource.
function resources(list: ResourceList): NonNullable<Container["resources"]> {
  const gpu = list["example.com/gpu"];
  return gpu === undefined ? { requests: list } : { requests: list, limits: { "example.com/gpu": gpu } };
}

const initContainers = fc.array(fc.tuple(container("init"), fc.boolean()), { minLength: 1, maxLength: 3 }).map(all =>
  all.map(([one, isSidecar], index): Container => {
    const named = { ...one, name: `init-${index}` };
    return isSidecar ? { ...named, restartPolicy: "Always" } : named;
  }),
);

const labelKeys = fc.subarray(["rev", "app"], { minLength: 1, maxLength: 1 });

// The API server refuses a key that is in both lists or in the selector already.
const affinityTerm: Arbitrary<PodAffinityTerm> = fc
  .tuple(
    fc.record({ topologyKey: oneOf(...words.topologyKeys), labelSelector: words.selector }),
    sparse(4, {
      namespaces: fc.subarray(["default", "other"], { minLength: 1 }),
      namespaceSelector: words.namespaceSelector,
    }),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: labelKeys.map(matchLabelKeys => ({ matchLabelKeys })) },
      { weight: 1, arbitrary: labelKeys.map(mismatchLabelKeys => ({ mismatchLabelKeys })) },
    ),
  )
  .map(([term, reach, keys]) => ({ ...term, ...reach, ...keysThatFit(keys, term.labelSelector) }));

const nodeTerm: Arbitrary<NodeSelectorTerm> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.array(words.nodeRequirement, { minLength: 1, maxLength: 2 }).map(all => ({ matchExpressions: all })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(oneOf("In", "NotIn"), oneOf(...words.nodeNames))
      .map(([operator, name]) => ({ matchFields: [{ key: "metadata.name", operator, values: [name] }] })),
  },
);

const requiredPods = fc
  .array(affinityTerm, { minLength: 1, maxLength: 2 })
  .map(requiredDuringSchedulingIgnoredDuringExecution => ({ requiredDuringSchedulingIgnoredDuringExecution }));

const affinity: Arbitrary<Affinity> = sparse(2, {
  nodeAffinity: fc.array(nodeTerm, { minLength: 1, maxLength: 3 }).map(nodeSelectorTerms => ({
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  })),
  podAffinity: requiredPods,
  podAntiAffinity: requiredPods,
});

const spread = (every: number): Arbitrary<TopologySpreadConstraint> =>
  fc
    .tuple(
      fc.record({ maxSkew: oneOf(1, 1, 2), topologyKey: oneOf(...words.topologyKeys), labelSelector: words.selector }),
      fc.oneof({ weight: 5, arbitrary: fc.constant("DoNotSchedule" as const) }, oneOf("ScheduleAnyway")),
      sparse(every, {
        minDomains: oneOf(1, 2, 3, 4),
        nodeAffinityPolicy: oneOf("Honor", "Ignore"),
        nodeTaintsPolicy: oneOf("Honor", "Ignore"),
        matchLabelKeys: labelKeys,
      }),
    )
    .map(([usual, whenUnsatisfiable, { minDomains, matchLabelKeys, ...rest }]) => ({
      ...usual,
      whenUnsatisfiable,
      ...rest,
      ...(matchLabelKeys && keysThatFit({ matchLabelKeys }, usual.labelSelector)),
      ...(minDomains !== undefined && whenUnsatisfiable === "DoNotSchedule" && { minDomains }),
    }));

// Two constraints on one key that do the same when they cannot hold are refused.
const spreads = (every: number) =>
  fc.uniqueArray(spread(every), { minLength: 1, maxLength: 2, selector: one => one.topologyKey });

function keysThatFit<K extends Readonly<Record<string, readonly string[]>>>(keys: K, selector: object): K | object {
  const text = JSON.stringify(selector);
  return Object.values(keys).some(list => list.some(key => text.includes(`"${key}"`))) ? {} : keys;
}

export type Draft = { labels: Labels; namespace: string; spec: PodSpec };

export const draft: Arbitrary<Draft> = fc
  .tuple(
    fc.record({ labels: words.podLabels, namespace: words.namespaceName }),
    fc.array(container("main"), { minLength: 1, maxLength: 2 }),
    sparse(7, {
      initContainers,
      overhead: oneOf<ResourceList>({ cpu: "100m" }, { cpu: "250m", memory: "128Mi" }),
      nodeSelector: oneOf<Labels>({ tier: "gold" }, { "topology.kubernetes.io/zone": "z1" }),
      tolerations: fc.array(words.toleration, { minLength: 1, maxLength: 2 }),
    }),
    sparse(12, { resources: fc.constant({ requests: { cpu: "3", memory: "3Gi" } }) }),
    sparse(3, { affinity, topologySpreadConstraints: spreads(4) }),
  )
  .map(([who, containers, some, wholePod, many]) => ({
    ...who,
    spec: {
      containers: containers.map((one, index) => ({ ...one, name: `main-${index}` })),
      ...some,
      // What the pod asks for as a whole must not be less than its containers do.
      ...(some.initContainers === undefined && wholePod),
      ...many,
    },
  }));

/** A pod that is spread and fits anywhere but for its labels: what such a constraint counts is what decides. */
export const spreadDraft: Arbitrary<Draft> = fc
  .tuple(
    words.podLabels,
    spreads(2),
    sparse(2, { tolerations: fc.array(words.toleration, { minLength: 1, maxLength: 1 }) }),
    sparse(2, { nodeSelector: oneOf<Labels>({ tier: "gold" }, { "topology.kubernetes.io/zone": "z1" }) }),
  )
  .map(([labels, topologySpreadConstraints, ...rest]) => ({
    labels,
    namespace: "default",
    spec: Object.assign({ containers: [{ name: "main" }], topologySpreadConstraints }, ...rest),
  }));

// Pod: its spec is all but fixed once written, it is deleted with grace while a kubelet may be running it, and
// `kubectl get pods` sums it up in a word.

import { timestamp } from "../object-meta.ts";
import { builtIn } from "./built-in.ts";
import { ageColumn, nameColumn, text, wide } from "./column.ts";
import { labelWithTopology, setPriority, tolerateFailures } from "./pod-admission.ts";
import { defaultPod, defaultPodSpec } from "./pod-defaults.ts";
import { podSummary } from "./pod-status.ts";
import type { Pod } from "./pod-types.ts";
import { podErrors } from "./pod-validation.ts";
import { qosClass } from "./qos-class.ts";

const or = (value: string | undefined, none: string) => value || none;

export const pod = builtIn({
  kind: "Pod",
  plural: "pods",
  namespaced: true,
  definition: "io.k8s.api.core.v1.Pod",
  shortNames: ["po"],
  categories: ["all"],
  subresources: ["status", "eviction", "binding"],
  indexedField: "spec.nodeName",
  columns: [
    nameColumn,
    text("Ready", "Containers that are ready, of all.", (object, now) => podSummary(object as Pod, now).ready),
    text("Status", "What the pod is doing, in a word.", (object, now) => podSummary(object as Pod, now).status),
    text("Restarts", "Restarts of its containers and the time since the last.", (object, now) => {
      return podSummary(object as Pod, now).restarts;
    }),
    ageColumn,
    wide(text("IP", "Address of the pod.", object => or((object as Pod).status.podIPs?.[0]?.ip, "<none>"))),
    wide(text("Node", "Node that the pod is bound to.", object => or((object as Pod).spec.nodeName, "<none>"))),
    wide(
      text("Nominated Node", "Node on which room is being made for the pod.", object =>
        or((object as Pod).status.nominatedNodeName, "<none>"),
      ),
    ),
    wide(text("Readiness Gates", "Readiness gates that are open, of all.", object => readinessGates(object as Pod))),
  ],
  rules: {
    countsGeneration: true,
    defaults: object => {
      defaultPodSpec((object as Pod).spec);
      defaultPod(object as Pod);
    },
    admit: (object, { old, subresource, cluster }) => {
      if (subresource !== undefined) return;
      tolerateFailures(object as Pod);
      if (old === undefined) {
        setPriority(object as Pod, cluster);
        labelWithTopology(object as Pod, cluster);
      } else {
        keepPriority(object as Pod, old as Pod);
      }
    },
    prepare: (object, { old, subresource, now }) => {
      if (old === undefined) prepareNew(object as Pod, now);
      else if (subresource === "status") prepareStatus(object as Pod, old as Pod);
      else object.status = old.status;
    },
    validate: (object, { old, subresource }) =>
      podErrors(object as Pod, { old: old as Pod | undefined, statusOnly: subresource === "status" }),
    selectableFields: object => selectableFields(object as Pod),
    gracePeriodSeconds: (object, asked) => gracePeriodSeconds(object as Pod, asked),
  },
});

function keepPriority({ spec }: Pod, old: Pod): void {
  for (const field of ["priority", "preemptionPolicy"] as const) {
    if (spec[field] === undefined && old.spec[field] !== undefined) Object.assign(spec, { [field]: old.spec[field] });
  }
}

function prepareNew(pod: Pod, now: number): void {
  pod.status = { phase: "Pending", qosClass: pod.status.qosClass ?? qosClass(pod.spec) };
  if (pod.spec.schedulingGates === undefined) return;
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  const times = { lastProbeTime: null, lastTransitionTime: timestamp(now) };
  pod.status.conditions = [{ type: "PodScheduled", status: "False", ...times, reason: "SchedulingGated", message }];
}

function prepareStatus(pod: Pod, old: Pod): void {
  pod.spec = old.spec;
  // A status cannot say when the pod goes; the stored time is put back with the other system fields.
  delete pod.metadata.deletionTimestamp;
  // Kubelets of old wrote owners back in a form that broke garbage collection.
  if (old.metadata.ownerReferences) pod.metadata.ownerReferences = old.metadata.ownerReferences;
  else delete pod.metadata.ownerReferences;
  if (old.status.qosClass !== undefined) pod.status.qosClass ??= old.status.qosClass;
  if (old.status.observedGeneration !== undefined) pod.status.observedGeneration ??= old.status.observedGeneration;
  const seen = new Set<string>();
  for (const condition of pod.status.conditions ?? []) {
    const before = old.status.conditions?.find(({ type }) => type === condition.type)?.observedGeneration;
    if (before !== undefined && !seen.has(condition.type)) condition.observedGeneration ??= before;
    seen.add(condition.type);
  }
}

function selectableFields({ spec, status }: Pod): Record<string, string> {
  return {
    "spec.nodeName": spec.nodeName ?? "",
    "spec.restartPolicy": spec.restartPolicy ?? "",
    "spec.schedulerName": spec.schedulerName ?? "",
    "spec.serviceAccountName": spec.serviceAccountName ?? "",
    "spec.hostNetwork": String(spec.hostNetwork === true),
    "status.phase": status.phase ?? "",
    "status.podIP": status.podIPs?.[0]?.ip ?? "",
    "status.podIPs": "",
    "status.nominatedNodeName": status.nominatedNodeName ?? "",
  };
}

/** Nobody waits for a pod that no kubelet runs, or that has ended. */
function gracePeriodSeconds({ spec, status }: Pod, asked: number | undefined): number {
  if (!spec.nodeName || status.phase === "Failed" || status.phase === "Succeeded") return 0;
  const period = asked ?? spec.terminationGracePeriodSeconds ?? 0;
  return period < 0 ? 1 : period;
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return "<none>";
  const isOpen = (type: string) => status.conditions?.find(condition => condition.type === type)?.status === "True";
  return `${gates.filter(gate => isOpen(gate.conditionType)).length}/${gates.length}`;
}

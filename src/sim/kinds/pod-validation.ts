// What the server refuses in a pod or a pod template, and what of a pod may change once it is written.
// What of the real server's rules is left out is listed in README.md beside this file.

import { isIP } from "node:net";
import { forbidden, invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { deepEqual } from "../json-value.ts";
import { annotations, immutable, invalidStruct, labels, qualifiedName, subdomain } from "./field-rules.ts";
import { podSpecErrors, tolerationErrors } from "./pod-spec-rules.ts";
import type { Container, ContainerStatus, Pod, PodSpec, PodTemplate, Toleration } from "./pod-types.ts";

type Context = { old: Pod | undefined; statusOnly: boolean };

export function podErrors(pod: Pod, { old, statusOnly }: Context): FieldError[] {
  if (old === undefined) return newPodErrors(pod);
  return statusOnly ? statusErrors(pod, old) : changeErrors(pod, old);
}

export function podTemplateErrors({ metadata, spec }: PodTemplate, path: string): FieldError[] {
  const found = [
    ...labels(`${path}.labels`, metadata.labels),
    ...annotations(`${path}.annotations`, metadata.annotations),
    ...podSpecErrors(spec, `${path}.spec`, { isPod: false }),
  ];
  if (spec.ephemeralContainers) {
    found.push(forbidden(`${path}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
  return found;
}

function newPodErrors({ spec }: Pod): FieldError[] {
  const found = podSpecErrors(spec, "spec", { isPod: true });
  if (spec.ephemeralContainers) found.push(forbidden("spec.ephemeralContainers", "cannot be set on create"));
  if (spec.nodeName && spec.schedulingGates) {
    found.push(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  return found;
}

const changeable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
];

function changeErrors({ spec }: Pod, old: Pod): FieldError[] {
  // What was judged when it was written is not judged again.
  if (deepEqual(spec, old.spec)) return [];
  const found = podSpecErrors(spec, "spec", { isPod: true });
  for (const field of ["containers", "initContainers"] as const) {
    const errors = containerChangeErrors(spec[field] ?? [], old.spec[field] ?? [], `spec.${field}`);
    found.push(...errors.found);
    if (errors.stop) return found;
  }
  const deadline = deadlineErrors(spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds);
  found.push(...deadline.found);
  if (deadline.stop) return found;
  found.push(...addedTolerationErrors(spec.tolerations ?? [], old.spec.tolerations ?? []));
  found.push(...gateErrors(spec, old.spec));
  if (!deepEqual(fixedPart(spec, old.spec), fixedPart(old.spec, old.spec))) {
    found.push(forbidden("spec", `pod updates may not change fields other than ${changeable.join(",")}`));
  }
  return found;
}

type Stoppable = { found: FieldError[]; stop: boolean };

function containerChangeErrors(containers: Container[], old: Container[], path: string): Stoppable {
  if (containers.length !== old.length) {
    return { found: [forbidden(path, "pod updates may not add or remove containers")], stop: true };
  }
  const found = containers.flatMap(({ image = "" }, i) => (image === "" ? [required(`${path}[${i}].image`, "")] : []));
  return { found, stop: false };
}

function deadlineErrors(deadline: number | undefined, old: number | undefined): Stoppable {
  const path = "spec.activeDeadlineSeconds";
  const refused = (rule: string) => invalid(path, deadline ?? null, rule);
  if (deadline === undefined) {
    const rule = "must not update from a positive integer to nil value";
    return { found: old === undefined ? [] : [refused(rule)], stop: false };
  }
  if (deadline < 0 || deadline > 2 ** 31 - 1) {
    return { found: [refused("must be between 0 and 2147483647, inclusive")], stop: true };
  }
  const grew = old !== undefined && old < deadline;
  return { found: grew ? [refused("must be less than or equal to previous value")] : [], stop: grew };
}

function addedTolerationErrors(tolerations: Toleration[], old: Toleration[]): FieldError[] {
  const path = "spec.tolerations";
  const isKept = (toleration: Toleration) =>
    tolerations.some(candidate => {
      const { tolerationSeconds: _, ...kept } = candidate;
      const { tolerationSeconds: __, ...before } = toleration;
      return deepEqual(kept, before);
    });
  const rule = "existing toleration can not be modified except its tolerationSeconds";
  return old.every(isKept) ? tolerationErrors(tolerations, path) : [forbidden(path, rule)];
}

function gateErrors(spec: PodSpec, old: PodSpec): FieldError[] {
  return (spec.schedulingGates ?? []).flatMap(({ name }, i) => {
    const isNew = !old.schedulingGates?.some(gate => gate.name === name);
    const rule = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return isNew ? [forbidden(`spec.schedulingGates[${i}].name`, rule)] : [];
  });
}

/** The spec without what may change. A pod that is still gated may also be told where to run. */
function fixedPart(spec: PodSpec, old: PodSpec): Record<string, unknown> {
  const { activeDeadlineSeconds: _, tolerations: __, schedulingGates: ___, ...rest } = spec;
  const fixed: Record<string, unknown> = {
    ...rest,
    containers: withoutImages(spec.containers),
    initContainers: withoutImages(spec.initContainers),
  };
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1) {
    fixed.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  if (old.schedulingGates) {
    delete fixed.nodeSelector;
    const { nodeAffinity: ____, ...affinity } = spec.affinity ?? {};
    fixed.affinity = Object.keys(affinity).length === 0 ? undefined : affinity;
  }
  return fixed;
}

function withoutImages(containers: readonly Container[] | null | undefined): unknown[] {
  return (containers ?? []).map(container => ({ ...container, image: "" }));
}

const systemConditions = ["PodScheduled", "Ready", "Initialized"];

function statusErrors({ status }: Pod, old: Pod): FieldError[] {
  const conditions = (status.conditions ?? []).flatMap(({ type }, i) => {
    return systemConditions.includes(type) ? [] : qualifiedName(`status.conditions[${i}].Type`, type);
  });
  const { nominatedNodeName } = status;
  const isNominated = nominatedNodeName !== undefined && nominatedNodeName !== old.status.nominatedNodeName;
  const bound = "may not be set on pods that are already bound to a node";
  return [
    ...conditions,
    ...(isNominated ? subdomain("status.nominatedNodeName", nominatedNodeName) : []),
    ...(isNominated && old.spec.nodeName ? [forbidden("status.nominatedNodeName", bound)] : []),
    ...immutable("status.qosClass", status.qosClass ?? "", old.status.qosClass ?? ""),
    ...restartErrors(status.containerStatuses, old.status.containerStatuses, {
      spec: old.spec,
      field: "containerStatuses",
    }),
    ...restartErrors(status.initContainerStatuses, old.status.initContainerStatuses, {
      spec: old.spec,
      field: "initContainerStatuses",
    }),
    ...addressErrors(status.podIPs ?? []),
  ];
}

type Restarts = { spec: PodSpec; field: "containerStatuses" | "initContainerStatuses" };

/** A container that ended for good does not run again. */
function restartErrors(
  statuses: readonly ContainerStatus[] = [],
  old: readonly ContainerStatus[] = [],
  { spec, field }: Restarts,
): FieldError[] {
  return old.flatMap(({ name, state: { terminated } }, i) => {
    if (terminated === undefined) return [];
    const containers = field === "containerStatuses" ? spec.containers : spec.initContainers;
    const policy = containers?.find(container => container.name === name)?.restartPolicy ?? spec.restartPolicy;
    const restarts = policy === "Always" || (policy === "OnFailure" && terminated.exitCode !== 0);
    const runsAgain = statuses.some(status => status.name === name && status.state.terminated === undefined);
    const rule = "may not be transitioned to non-terminated state";
    return runsAgain && !restarts ? [forbidden(`status.${field}[${i}].state`, rule)] : [];
  });
}

function addressErrors(addresses: readonly { ip: string }[]): FieldError[] {
  const path = "status.podIPs";
  const found = addresses.flatMap(({ ip }, i) => {
    const rule = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
    return isIP(ip) === 0 ? [invalid(`${path}[${i}]`, ip, rule)] : [];
  });
  const families = new Set(addresses.map(({ ip }) => isIP(ip)));
  if (addresses.length > 1 && (families.size < 2 || addresses.length > 2)) {
    found.push(
      invalidStruct(
        path,
        addresses.map(({ ip }) => ({ IP: ip })),
        "may specify no more than one IP for each IP family",
      ),
    );
  }
  return found;
}

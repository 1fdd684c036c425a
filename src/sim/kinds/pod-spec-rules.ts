// The spec of a pod as a whole: policies, names, tolerations, spreading. Containers, volumes and affinity have rules
// of their own.

import { labelValueErrors } from "../../api/name.ts";
import { duplicate, invalid, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { affinityErrors } from "./affinity-rules.ts";
import { type ContainerContext, containersErrors, initContainersErrors } from "./container-rules.ts";
import { dnsLabel, labelSelector, labels, oneOf, qualifiedName, subdomain } from "./field-rules.ts";
import { volumesErrors } from "./pod-volume-rules.ts";
import type { Container, PodSpec, Toleration } from "./pod-types.ts";

const int32Max = 2 ** 31 - 1;

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const preemptionPolicies = ["PreemptLowerPriority", "Never"];

export function podSpecErrors(spec: PodSpec, path: string, { isPod }: { isPod: boolean }): FieldError[] {
  const { errors: volumeErrors, names: volumes } = volumesErrors(spec.volumes ?? [], `${path}.volumes`);
  const context = { volumes, gracePeriodSeconds: spec.terminationGracePeriodSeconds ?? 0, isPod };
  const { initContainers, nodeSelector, affinity, readinessGates, schedulingGates } = spec;
  const found = [...volumeErrors, ...containersErrors(spec.containers ?? [], `${path}.containers`, context)];
  if (initContainers) found.push(...sidecarsErrors(initContainers, spec, { path, context }));
  if (spec.hostNetwork) found.push(...hostNetworkErrors(spec, path, isPod));
  found.push(...oneOf(`${path}.restartPolicy`, spec.restartPolicy, restartPolicies));
  found.push(...oneOf(`${path}.dnsPolicy`, spec.dnsPolicy, dnsPolicies));
  if (nodeSelector) found.push(...labels(`${path}.nodeSelector`, nodeSelector));
  if (affinity) found.push(...affinityErrors(affinity, `${path}.affinity`));
  found.push(...dnsErrors(spec, `${path}.dnsConfig`));
  if (readinessGates || schedulingGates) found.push(...gateErrors(spec, path));
  const { topologySpreadConstraints: spread, tolerations } = spec;
  if (spread) found.push(...spreadErrors(spread, `${path}.topologySpreadConstraints`));
  found.push(...nameErrors(spec, path));
  if (tolerations) found.push(...tolerationErrors(tolerations, `${path}.tolerations`));
  found.push(...oneOf(`${path}.preemptionPolicy`, spec.preemptionPolicy, preemptionPolicies));
  return found;
}

type Around = { path: string; context: ContainerContext };

function sidecarsErrors(containers: readonly Container[], spec: PodSpec, { path, context }: Around): FieldError[] {
  const others = (spec.containers ?? []).map(({ name }) => name);
  return initContainersErrors(containers, `${path}.initContainers`, { ...context, others });
}

function nameErrors(spec: PodSpec, path: string): FieldError[] {
  const found: FieldError[] = [];
  for (const field of ["serviceAccountName", "nodeName", "priorityClassName"] as const) {
    if (spec[field]) found.push(...subdomain(`${path}.${field}`, spec[field]));
  }
  for (const field of ["hostname", "subdomain"] as const) {
    if (spec[field]) found.push(...dnsLabel(`${path}.${field}`, spec[field]));
  }
  const { activeDeadlineSeconds: deadline } = spec;
  if (deadline !== undefined && (deadline < 1 || deadline > int32Max)) {
    const rule = `must be between 1 and ${int32Max}, inclusive`;
    found.push(invalid(`${path}.activeDeadlineSeconds`, deadline, rule));
  }
  return found;
}

/** On the host's network a container's port is the host's. */
function hostNetworkErrors(spec: PodSpec, path: string, isPod: boolean): FieldError[] {
  const rule = "must match `containerPort` when `hostNetwork` is true";
  return (spec.containers ?? []).flatMap(({ ports = [] }, i) =>
    ports.flatMap(({ hostPort = 0, containerPort }, j) => {
      const differs = (isPod || hostPort !== 0) && hostPort !== containerPort;
      return differs ? [invalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, rule)] : [];
    }),
  );
}

function dnsErrors({ dnsPolicy, dnsConfig }: PodSpec, path: string): FieldError[] {
  if (dnsPolicy !== "None") return [];
  if (dnsConfig === undefined) return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")];
  const rule = "must provide at least one DNS nameserver when `dnsPolicy` is None";
  return dnsConfig.nameservers ? [] : [required(`${path}.nameservers`, rule)];
}

function gateErrors({ readinessGates = [], schedulingGates = [] }: PodSpec, path: string): FieldError[] {
  return [
    ...readinessGates.flatMap(({ conditionType }, i) => {
      return qualifiedName(`${path}.readinessGates[${i}].conditionType`, conditionType);
    }),
    ...schedulingGates.flatMap(({ name }, i) => {
      const at = `${path}.schedulingGates[${i}]`;
      const isRepeated = schedulingGates.slice(0, i).some(gate => gate.name === name);
      return [...qualifiedName(at, name), ...(isRepeated ? [duplicate(at, name)] : [])];
    }),
  ];
}

type Constraint = NonNullable<PodSpec["topologySpreadConstraints"]>[number];

function spreadErrors(constraints: readonly Constraint[], path: string): FieldError[] {
  return constraints.flatMap((constraint, i) => {
    const at = `${path}[${i}]`;
    const { maxSkew, topologyKey, whenUnsatisfiable, minDomains } = constraint;
    const found: FieldError[] = [];
    if (maxSkew <= 0) found.push(invalid(`${at}.maxSkew`, maxSkew, "must be greater than zero"));
    if (topologyKey === "") found.push(required(`${at}.topologyKey`, "can not be empty"));
    found.push(...oneOf(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ["DoNotSchedule", "ScheduleAnyway"]));
    const isRepeated = constraints
      .slice(i + 1)
      .some(other => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
    if (isRepeated) {
      found.push(duplicate(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`));
    }
    if (minDomains !== undefined && minDomains <= 0) {
      found.push(invalid(`${at}.minDomains`, minDomains, "must be greater than zero"));
    }
    return [...found, ...labelSelector(`${at}.labelSelector`, constraint.labelSelector)];
  });
}

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function tolerationErrors(tolerations: readonly Toleration[], path: string): FieldError[] {
  const found: FieldError[] = [];
  for (const [i, toleration] of tolerations.entries()) {
    const { key = "", operator = "", effect = "", tolerationSeconds } = toleration;
    const at = `${path}[${i}]`;
    if (key !== "") found.push(...qualifiedName(`${at}.key`, key));
    if (key === "" && operator !== "Exists") {
      const rule = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      found.push(invalid(`${at}.operator`, operator, rule));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      found.push(invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    found.push(...operatorErrors(toleration, `${at}.operator`));
    found.push(...oneOf(`${at}.effect`, effect || undefined, taintEffects));
  }
  return found;
}

function operatorErrors({ operator = "Equal", value = "" }: Toleration, path: string): FieldError[] {
  switch (operator) {
    case "Equal": {
      const errors = labelValueErrors(value);
      return errors.length === 0 ? [] : [invalid(path, value, errors.join(";"))];
    }
    case "Exists":
      return value === "" ? [] : [invalid(path, value, "value must be empty when `operator` is 'Exists'")];
    case "Lt":
    case "Gt":
      // Comparison is behind a feature gate that is off.
      return [notSupported(path, operator, ["Equal", "Exists", "Lt", "Gt"])];
    default:
      return [notSupported(path, operator, ["Equal", "Exists"])];
  }
}

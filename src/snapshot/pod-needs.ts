// What a Pod asks of a node, and no more: one copy for all pods that ask for the same, which is as a rule every pod of a
// workload. Its volumes are kept apart (PodView.volumeClaims), for each pod of a StatefulSet has its own.

import type { Container, ContainerStatus, PodSpec, ResourceRequirements } from "../api/pod.ts";
import { type Fields, fields, items, present } from "./raw.ts";

/** `allocated`: containers that have more or less than they ask for, while they are being resized. */
export type PodNeeds = {
  readonly spec: Omit<PodSpec, "nodeName" | "volumes">;
  readonly allocated?: readonly ContainerStatus[];
};

export function podNeeds(spec: Fields, status: Fields): PodNeeds {
  const containers = items(spec["containers"]).map(container);
  const init = items(spec["initContainers"]).map(container);
  const statuses = [...items(status["containerStatuses"]), ...items(status["initContainerStatuses"])];
  const allocated = statuses.flatMap(item => resized(item, [...containers, ...init]) ?? []);
  const { overhead, resources, nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec as PodSpec &
    Fields;
  const devices = items(spec["resourceClaims"]).map(item => ({ name: fields(item)["name"] as string }));
  return {
    spec: {
      containers,
      ...(init.length === 0 ? {} : { initContainers: init }),
      ...present({ overhead, resources, nodeSelector, affinity, tolerations, topologySpreadConstraints }),
      ...(devices.length === 0 ? {} : { resourceClaims: devices }),
    },
    ...(allocated.length === 0 ? {} : { allocated }),
  };
}

// Names matter only where a status speaks of one container of several, or a resize is on.
function container(item: unknown): Container {
  const { name, resources, ports, restartPolicy } = fields(item) as Container & Fields;
  const hostPorts = items(ports).filter(port => fields(port)["hostPort"] !== undefined) as Container["ports"];
  return {
    name,
    ...present({ resources: requestsOf(resources), restartPolicy }),
    ...(hostPorts === undefined || hostPorts.length === 0 ? {} : { ports: hostPorts }),
  };
}

// A limit without a request was made one by the API server's defaults, so only requests are kept.
function requestsOf(resources: unknown): ResourceRequirements | undefined {
  const { requests } = fields(resources);
  return requests === undefined ? undefined : ({ requests } as ResourceRequirements);
}

function resized(item: unknown, containers: readonly Container[]): ContainerStatus | undefined {
  const { name, allocatedResources, resources } = fields(item) as ContainerStatus & Fields;
  const asked = JSON.stringify(containers.find(one => one.name === name)?.resources?.requests ?? {});
  const requests = requestsOf(resources);
  const isAsAsked = (amounts: unknown) => amounts === undefined || JSON.stringify(amounts) === asked;
  if (isAsAsked(allocatedResources) && isAsAsked(requests?.requests)) return undefined;
  return { name, ...present({ allocatedResources, resources: requests }) };
}

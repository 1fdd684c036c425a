// Ports of the host that a pod takes: two pods clash on a node if port and protocol agree and the addresses do, or one
// of them is the wildcard.

import type { Pod } from "../../api/pod.ts";

export type HostPort = { port: number; protocol: string; ip: string };

const wildcard = "0.0.0.0";

export function hostPorts({ spec }: Pod): HostPort[] {
  // Of the init containers only sidecars hold their ports while others run.
  const sidecars = spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, protocol, hostIP }) =>
      hostPort > 0 ? [{ port: hostPort, protocol: protocol || "TCP", ip: hostIP || wildcard }] : [],
    ),
  );
}

export function clash(a: readonly HostPort[], b: readonly HostPort[]): boolean {
  return a.some(one => b.some(other => isSamePort(one, other)));
}

function isSamePort(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === wildcard || b.ip === wildcard;
}

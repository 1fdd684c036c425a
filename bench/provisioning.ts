// Nodes for pods that wait, measured: 1,000 pods of ten Deployments on a real control plane, the controller as a process
// of its own; 1,000 claims on the same server beside as many plain creates; 10,000 pods at once on the box.
//   npm run bench -- provisioning [deployments] [claims] [box]

import { loadavg } from "node:os";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { buildFettle } from "../test/spine/fettle-process.ts";
import { claims } from "./provisioning-claims.ts";
import { burst } from "./provisioning-burst.ts";
import { deployments } from "./provisioning-deployments.ts";

const parts = { deployments, claims, box: burst };
const words = process.argv.slice(2);
const asked = Object.entries(parts).filter(([name]) => words.length === 0 || words.includes(name));
const needed = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

if (asked.some(([name]) => name !== "box")) await buildFettle();
for (const [name, measure] of asked) {
  if (name !== "box" && isUnavailable(...needed)) continue;
  const rows = await measure();
  console.log(`\nProvisioning, ${name}; load ${loadavg()[0]?.toFixed(1)}`);
  console.table(rows);
}

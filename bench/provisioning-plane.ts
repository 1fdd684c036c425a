// A real control plane with our kinds and simulated machines, for the parts of the provisioning bench that need one. The
// controller and the machines have users of their own, so that the audit log tells them apart.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiVersionOf, type Manifest, type Resource } from "../src/api/meta.ts";
import { type SimulatedNodeClassSpec, simulatedNodeClasses } from "../src/api/simulated-node-class.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { addressOf, connectTo, install, ourDefinitions } from "../test/contract/backends.ts";
import { type ControlPlane, controlPlane } from "../test/control-plane/start.ts";
import { buildFettle, FettleProcess, writeKubeconfig } from "../test/spine/fettle-process.ts";

export const controllerUser = "fettle";
const machinesUser = "machines";
const quick = { median: "500ms" };
/** Twelve types of up to 8 CPUs. */
export const machineSpec: SimulatedNodeClassSpec = {
  catalogue: { cpus: [1, 2, 4, 8], architectures: ["amd64"], operatingSystems: ["linux"] },
  boot: quick,
  join: quick,
  stop: quick,
};

export type Plane = {
  plane: ControlPlane;
  api: KubeApi;
  controller: (...flags: readonly string[]) => Promise<FettleProcess>;
  machines: () => Promise<void>;
};

export async function onPlane<T>(measure: (plane: Plane) => Promise<T>): Promise<T> {
  // With what was compiled of it, as an image has it: else the start of the controller would be measured with that.
  await buildFettle();
  const components = ["kube-controller-manager", "kube-scheduler"] as const;
  const plane = await controlPlane({ components, audit: true, users: [controllerUser, machinesUser] });
  const address = addressOf(plane);
  const api = connectTo(address);
  const processes: FettleProcess[] = [];
  const started = async (user: string, ...args: readonly string[]) => {
    const kubeconfig = join(plane.dir, user);
    await writeKubeconfig(kubeconfig, { ...address, token: plane.tokens[user] ?? "" });
    const process = new FettleProcess(...args, "--kubeconfig", kubeconfig);
    processes.push(process);
    return process;
  };
  try {
    await install(address, ourDefinitions());
    await api.create(
      simulatedNodeClasses.resource,
      {},
      manifest(simulatedNodeClasses.resource, "default", { spec: machineSpec }),
    );
    const flags = [
      "--provider=simulated",
      "--metrics-bind-address=127.0.0.1:9791",
      "--leader-elect-resource-namespace=default",
    ];
    return await measure({
      plane,
      api,
      controller: (...more) => started(controllerUser, "run", ...flags, ...more),
      machines: async () => void (await started(machinesUser, "machines")),
    });
  } finally {
    await Promise.all(processes.map(process => process.kill()));
    await api.close();
    await plane.stop();
  }
}

export function manifest(resource: Resource, name: string, body: object): Manifest & { metadata: { name: string } } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, ...body };
}

export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + 600_000; performance.now() < end; await sleep(250)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`${what} did not come within 10 min.`);
}

/** Of all threads of a process, in seconds. Linux only. */
export async function cpuSeconds(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  // The name of the program may have spaces; the numbers come after it. Ticks are hundredths of a second.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

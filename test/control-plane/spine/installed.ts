// A real control plane with what `fettle install` prints, RBAC on and every request in the audit log. The controller
// itself is started by the test, as a process, under the ServiceAccount and with the roles that are printed.

import { join } from "node:path";
import type { Manifest } from "../../../src/api/meta.ts";
import type { Connection } from "../../../src/kube/client.ts";
import { addressOf, connectTo } from "../../contract/backends.ts";
import { buildFettle, fettle, FettleProcess, writeKubeconfig } from "../../spine/fettle-process.ts";
import { quickMachines } from "../../spine/process-world.ts";
import { isUnavailable } from "../binaries.ts";
import { established } from "../established.ts";
import { type ControlPlane, controlPlane } from "../start.ts";
import { readRequests, type Request } from "./requests.ts";

const components = ["kube-controller-manager", "kube-scheduler"] as const;
const serviceAccount = { name: "fettle", namespace: "fettle-system" };
export const controllerUser = `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`;

/** Whether a suite that needs one must be skipped. */
export const isMissing = isUnavailable("etcd", "kube-apiserver", "kubectl", ...components);

/** A lease that is over soon: these suites wait for it, again and again. */
export const shortLease = [
  "--leader-elect-lease-duration=2s",
  "--leader-elect-renew-deadline=1500ms",
  "--leader-elect-retry-period=400ms",
];

/** A token of the controller's ServiceAccount. */
export type Identity = {
  token: string;
  /** By which the audit log tells tokens apart. */
  credential: string;
};

/** `url`: what stands between it and the server. */
type RunOptions = { url?: string; flags?: readonly string[]; nodeFlags?: readonly string[] };

export type Installed = {
  plane: ControlPlane;
  /** As an administrator. */
  api: Connection;
  objects: readonly Manifest[];
  identity(): Promise<Identity>;
  /** A process of the controller. */
  run(identity: Identity, options?: RunOptions): Promise<FettleProcess>;
  requests(): Promise<Request[]>;
  stop(): Promise<void>;
};

export async function installed(): Promise<Installed> {
  await buildFettle();
  const plane = await controlPlane({ components, authorization: "RBAC", audit: true });
  const api = connectTo(addressOf(plane));
  const processes: FettleProcess[] = [];
  const stop = async () => {
    await Promise.all(processes.map(process => process.kill()));
    await api.close();
    await plane.stop();
  };
  try {
    const objects = await apply(plane);
    await quickMachines(api);
    processes.push(new FettleProcess("machines", "--kubeconfig", plane.kubeconfigPath));
    let count = 0;
    return {
      plane,
      api,
      objects,
      identity: () => identityOf(plane),
      run: async ({ token }, { url, flags = [], nodeFlags = [] } = {}) => {
        const kubeconfig = join(plane.dir, `controller-${++count}`);
        const { ca } = addressOf(plane);
        await writeKubeconfig(kubeconfig, url === undefined ? { url: plane.url, token, ca } : { url, token });
        const own = ["--kubeconfig", kubeconfig, "--provider=simulated", "--metrics-bind-address=0"];
        // Only who asks for it has a check in its cluster.
        own.push("--default-health-check=off");
        const process = new FettleProcess(...nodeFlags, "run", ...own, ...flags);
        processes.push(process);
        return process;
      },
      requests: () => readRequests(plane),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** All but the Deployment: its pods would run in name only, on the very nodes that the suites end. */
async function apply(plane: ControlPlane): Promise<readonly Manifest[]> {
  const { items } = JSON.parse(await fettle("install", "--provider=simulated", "-o", "json")) as { items: Manifest[] };
  const wanted = { apiVersion: "v1", kind: "List", items: items.filter(({ kind }) => kind !== "Deployment") };
  await succeed(plane, ["apply", "--server-side", "-f", "-"], JSON.stringify(wanted));
  await established(plane);
  return items;
}

async function identityOf(plane: ControlPlane): Promise<Identity> {
  const { name, namespace } = serviceAccount;
  const token = (await succeed(plane, ["create", "token", name, "-n", namespace, "--duration=1h"])).trim();
  const [, payload = ""] = token.split(".");
  const { jti } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { jti: string };
  return { token, credential: `JTI=${jti}` };
}

/** What kubectl prints; an error where it fails. */
export async function succeed(plane: ControlPlane, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await plane.kubectl(args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

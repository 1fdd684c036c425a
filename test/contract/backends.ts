// The API servers that the suites run on: a real one and the box, both with our CustomResourceDefinitions.

import { randomBytes } from "node:crypto";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { kinds } from "../../src/api/kinds.ts";
import type { Clock, Fence, KubeApi } from "../../src/control/ports.ts";
import { type Connection, connect } from "../../src/kube/client.ts";
import type { ClusterConfig } from "../../src/kube/kubeconfig.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import type { ApiServer } from "../../src/sim/api-server.ts";
import { clusterInTheBox } from "../../src/sim/cluster-in-the-box.ts";
import { listen } from "../../src/sim/http/listener.ts";
import { InProcessApi } from "../../src/sim/in-process.ts";
import { seededRandom } from "../../src/sim/random.ts";
import { isUnavailable } from "../control-plane/binaries.ts";
import { type ControlPlaneAddress, controlPlane } from "../control-plane/start.ts";
import { faultProxy } from "../fault-proxy.ts";
import { type ApiAddress, HttpApi } from "./differential/server.ts";

export type Running<T> = T & { close: () => Promise<void> };

export type Backend = {
  name: string;
  skip: boolean;
  start: () => Promise<Running<{ api: KubeApi }>>;
};

/** An API that is reached over a socket, so that a fault proxy can stand before it. */
export type HttpBackend = { name: string; skip: boolean; start: () => Promise<Running<ApiAddress>> };

const realIsMissing = isUnavailable("etcd", "kube-apiserver");

export const httpBackends: readonly HttpBackend[] = [
  { name: "the box over HTTPS", skip: false, start: () => startBox({ controllers: false }) },
  { name: "a real API server", skip: realIsMissing, start: startReal },
];

/** The same API in process, over HTTPS and, as the real one, through a proxy that does nothing. */
export const backends: readonly Backend[] = [
  { name: "the box in process", skip: false, start: startInProcess },
  ...httpBackends.map(({ name, skip, start }) => ({ name, skip, start: () => connected(start) })),
  ...httpBackends.map(({ name, skip, start }) => ({
    name: `${name}, through a proxy`,
    skip,
    start: () => connected(() => proxied(start)),
  })),
];

// So few that a test can make a version expire.
const changeCountMax = 64;
// So few that most of what is read or changed was kept as bytes.
const parsedObjectCountMax = 2;

function newBox({ controllers }: { controllers: boolean }): ApiServer {
  const store = { history: { changeCountMax }, parsedObjectCountMax };
  return clusterInTheBox({ clock: systemClock, random: seededRandom(1), controllers, store });
}

async function startInProcess(): Promise<Running<{ api: KubeApi }>> {
  return { api: new InProcessApi(newBox({ controllers: false }), systemClock), close: async () => {} };
}

/** Without `controllers` it is an API server alone, as the real one is without its controller-manager. */
export async function startBox({ controllers }: { controllers: boolean }): Promise<Running<ApiAddress>> {
  return serve(newBox({ controllers }));
}

export async function serve(api: ApiServer): Promise<Running<ApiAddress>> {
  const token = randomBytes(16).toString("hex");
  const listening = await listen({ api, clock: systemClock, now: systemClock.now(), token });
  return { url: listening.url, ca: listening.ca, token, close: () => listening.close() };
}

async function startReal(): Promise<Running<ApiAddress>> {
  const plane = await controlPlane({ apiServerFlags: ["--etcd-compaction-interval=1s"] });
  const address = addressOf(plane);
  await install(address, ourDefinitions());
  return { ...address, close: () => plane.stop() };
}

async function proxied(start: () => Promise<Running<ApiAddress>>): Promise<Running<ApiAddress>> {
  const { close, ...address } = await start();
  const proxy = await faultProxy(address);
  return {
    ...address,
    url: proxy.url,
    async close() {
      await proxy.stop();
      await close();
    },
  };
}

async function connected(start: () => Promise<Running<ApiAddress>>): Promise<Running<{ api: KubeApi }>> {
  const { close, ...address } = await start();
  const api = connectTo(address);
  return {
    api,
    async close() {
      await api.close();
      await close();
    },
  };
}

/** Our client, as the controller has it. */
export function connectTo(address: ApiAddress, options: { clock?: Clock; fence?: Fence } = {}): Connection {
  return connect(configOf(address), { clock: systemClock, userAgent: "fettle-contract", ...options });
}

function configOf({ url, token, ca }: ApiAddress): ClusterConfig {
  return {
    source: "the suite",
    server: url,
    namespace: "default",
    insecureSkipTlsVerify: false,
    ca: { data: ca },
    user: { token },
  };
}

export function addressOf({ url, token, caData }: ControlPlaneAddress): ApiAddress {
  return { url, token, ca: Buffer.from(caData, "base64").toString() };
}

export const ourDefinitions = () => kinds.map(customResourceDefinition);

/** Creates the definitions that are missing and waits until each kind is served. */
export async function install(
  address: ApiAddress,
  definitions: readonly { metadata: { name: string } }[],
): Promise<void> {
  const api = new HttpApi(address);
  try {
    for (const definition of definitions) await installOne(api, definition);
  } finally {
    await api.close();
  }
}

const attemptsMax = 500;
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async function installOne(api: HttpApi, definition: { metadata: { name: string } }): Promise<void> {
  const body = JSON.parse(JSON.stringify(definition)) as never;
  const created = await api.send({ method: "POST", path: definitionsPath, query: {}, body });
  if (created.code !== 201 && created.code !== 409) throw new Error(JSON.stringify(created.body));
  const { group, versions, names } = (definition as unknown as Definition).spec;
  for (const { name } of versions) {
    const path = `/apis/${group}/${name}/${names.plural}`;
    for (let attempt = 0; (await api.send({ method: "GET", path, query: {} })).code !== 200; attempt++) {
      if (attempt === attemptsMax) throw new Error(`${definition.metadata.name} is not served`);
      await new Promise<void>(resolve => systemClock.after(20, resolve));
    }
  }
}

type Definition = { spec: { group: string; versions: readonly { name: string }[]; names: { plural: string } } };

// What the server fills into pods and pod templates. It looks at nothing but the object itself: tolerations and
// priority are admission's (pod-admission.ts).

import { remembered } from "../../api/remembered.ts";
import { defaultPodRequests } from "./pod-resources.ts";
import type { Container, Handler, Pod, PodSpec, Probe, Resources, Volume } from "./pod-types.ts";

/** Pods and templates alike. */
export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ??= "ClusterFirst";
  spec.restartPolicy ??= "Always";
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= "default-scheduler";
  // Two names of one field: the old one follows the new.
  const account = spec.serviceAccountName ?? spec.serviceAccount;
  if (account !== undefined) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of containersOf(spec)) defaultContainer(container);
}

/** Pods only, never the templates they are made from. */
export function defaultPod({ spec, status }: Pod): void {
  spec.enableServiceLinks ??= true;
  for (const { resources, ports } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    if (resources.limits) requestLimits(resources, resources.limits);
    if (!spec.hostNetwork) continue;
    for (const port of ports ?? []) port.hostPort ??= port.containerPort;
  }
  defaultPodRequests(spec);
  // Only one of the single and the plural form need be given.
  if (status.podIPs === undefined && status.podIP !== undefined) status.podIPs = [{ ip: status.podIP }];
  if (status.podIP === undefined && status.podIPs?.[0] !== undefined) status.podIP = status.podIPs[0].ip;
}

/** What is limited and not requested is requested up to its limit. */
function requestLimits(resources: Resources, limits: Readonly<Record<string, string>>): void {
  resources.requests ??= {};
  for (const name in limits) resources.requests[name] ??= limits[name] as string; // its own key
}

export function containersOf(spec: PodSpec): Container[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ??= pullPolicyOf(container.image ?? "");
  container.terminationMessagePath ??= "/dev/termination-log";
  container.terminationMessagePolicy ??= "File";
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ??= "v1";
    if (valueFrom?.fileKeyRef) Object.assign(valueFrom.fileKeyRef, { optional: false, ...valueFrom.fileKeyRef });
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe) defaultProbe(probe);
  }
  for (const handler of [container.lifecycle?.postStart, container.lifecycle?.preStop]) {
    if (handler) defaultHandler(handler);
  }
}

/** An image without a tag and without a digest is the latest; `host:port/name` has no tag. */
const pullPolicyOf = remembered((image: string): "Always" | "IfNotPresent" => {
  const [reference = "", digest] = image.split("@");
  const tag = /:([^:/]*)$/.exec(reference)?.[1];
  // A reference that cannot be parsed has no tag at all to the server.
  const isReference =
    /^[a-zA-Z0-9][a-zA-Z0-9._:/-]*$/.test(reference) &&
    !/\/[^/]*[A-Z][^/]*$/.test(`/${reference.replace(/:[^:/]*$/, "")}`);
  if (!isReference) return "IfNotPresent";
  return tag === "latest" || (tag === undefined && digest === undefined) ? "Always" : "IfNotPresent";
});

function defaultProbe(probe: Probe): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  defaultHandler(probe);
}

function defaultHandler({ httpGet, grpc }: Handler): void {
  if (httpGet) {
    httpGet.path ??= "/";
    httpGet.scheme ??= "HTTP";
  }
  if (grpc) grpc.service ??= "";
}

const mode0644 = 420;

function defaultVolume(volume: Volume): void {
  const { secret, configMap, downwardAPI, projected, hostPath, ephemeral, image } = volume;
  if (Object.keys(volume).every(key => key === "name")) volume.emptyDir = {};
  for (const source of [secret, configMap, downwardAPI, projected]) if (source) source.defaultMode ??= mode0644;
  if (hostPath) hostPath.type ??= "";
  if (image) image.pullPolicy ??= pullPolicyOf(image.reference ?? "");
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim) claim.volumeMode ??= "Filesystem";
  const items = [...(downwardAPI?.items ?? [])];
  for (const source of projected?.sources ?? []) {
    items.push(...(source.downwardAPI?.items ?? []));
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= 3600;
  }
  for (const { fieldRef } of items) if (fieldRef) fieldRef.apiVersion ??= "v1";
}

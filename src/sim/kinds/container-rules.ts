// Containers of a pod: names, images, ports, variables, mounts, probes.

import { duplicate, forbidden, invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { environmentErrors } from "./environment-rules.ts";
import { dnsLabel, nonNegative, oneOf, requiredText } from "./field-rules.ts";
import { relativePathErrors } from "./pod-volume-rules.ts";
import type { Container, ContainerPort, Handler, Probe, VolumeMount } from "./pod-types.ts";
import { resourcesErrors } from "./resource-rules.ts";

export type ContainerContext = {
  /** Names of the volumes that may be mounted. */
  volumes: ReadonlySet<string>;
  gracePeriodSeconds: number;
  /** A pod itself, not a template. */
  isPod: boolean;
};

export function containersErrors(
  containers: readonly Container[],
  path: string,
  context: ContainerContext,
): FieldError[] {
  if (containers.length === 0) return [required(path, "")];
  const seen = new Set<string>();
  const found: FieldError[] = [];
  for (const [i, container] of containers.entries()) {
    const at = `${path}[${i}]`;
    found.push(...commonErrors(container, at, context));
    if (seen.has(container.name)) found.push(duplicate(`${at}.name`, container.name));
    seen.add(container.name);
    found.push(...hookErrors(container, at, context));
  }
  if (containers.some(({ ports }) => ports)) found.push(...hostPortErrors(containers, path));
  return found;
}

export function initContainersErrors(
  containers: readonly Container[],
  path: string,
  context: ContainerContext & { others: readonly string[] },
): FieldError[] {
  const seen = new Set(context.others);
  return containers.flatMap((container, i) => {
    const at = `${path}[${i}]`;
    const isRepeated = seen.has(container.name);
    if (container.name !== "") seen.add(container.name);
    const isSidecar = container.restartPolicy === "Always";
    return [
      ...commonErrors(container, at, context),
      ...(isRepeated ? [duplicate(`${at}.name`, container.name)] : []),
      ...(isSidecar ? hookErrors(container, at, context) : noHookErrors(container, at)),
    ];
  });
}

const hooks = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const;

/** An init container that ends is neither probed nor told of anything. */
function noHookErrors(container: Container, path: string): FieldError[] {
  const rule = "may not be set for init containers without restartPolicy=Always";
  return hooks.flatMap(field => (container[field] ? [forbidden(`${path}.${field}`, rule)] : []));
}

const messagePolicies = ["File", "FallbackToLogsOnError"];
const pullPolicies = ["Always", "IfNotPresent", "Never"];

function commonErrors(container: Container, path: string, { volumes, isPod }: ContainerContext): FieldError[] {
  const { name, image = "" } = container;
  const found = name === "" ? [required(`${path}.name`, "")] : dnsLabel(`${path}.name`, name);
  if (image === "") found.push(required(`${path}.image`, ""));
  found.push(...oneOf(`${path}.terminationMessagePolicy`, container.terminationMessagePolicy, messagePolicies));
  if (container.ports) found.push(...portsErrors(container.ports, `${path}.ports`));
  found.push(...environmentErrors(container, path));
  if (container.volumeMounts) found.push(...mountsErrors(container.volumeMounts, `${path}.volumeMounts`, volumes));
  found.push(...oneOf(`${path}.imagePullPolicy`, container.imagePullPolicy, pullPolicies));
  found.push(...resourcesErrors(container.resources, `${path}.resources`));
  const isPadded = isPod && image !== image.trim();
  if (isPadded) found.push(invalid(`${path}.image`, image, "must not have leading or trailing whitespace"));
  return found;
}

function portsErrors(ports: readonly ContainerPort[], path: string): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ name, containerPort, hostPort, protocol }, i) => {
    const at = `${path}[${i}]`;
    const found: FieldError[] = [];
    const nameErrors = name ? portNameErrors(name, `${at}.name`) : [];
    if (name && nameErrors.length === 0 && seen.has(name)) found.push(duplicate(`${at}.name`, name));
    if (name) seen.add(name);
    return [
      ...nameErrors,
      ...found,
      ...(containerPort === 0
        ? [required(`${at}.containerPort`, "")]
        : portNumberErrors(containerPort, `${at}.containerPort`)),
      ...(hostPort ? portNumberErrors(hostPort, `${at}.hostPort`) : []),
      ...oneOf(`${at}.protocol`, protocol, ["SCTP", "TCP", "UDP"]),
    ];
  });
}

function hostPortErrors(containers: readonly Container[], path: string): FieldError[] {
  const seen = new Set<string>();
  return containers.flatMap(({ ports = [] }, i) =>
    ports.flatMap(({ protocol, hostIP = "", hostPort }, j) => {
      if (!hostPort) return [];
      const taken = `${protocol}/${hostIP}/${hostPort}`;
      const found = seen.has(taken) ? [duplicate(`${path}[${i}].ports[${j}].hostPort`, taken)] : [];
      seen.add(taken);
      return found;
    }),
  );
}

function portNumberErrors(port: number, path: string): FieldError[] {
  return port < 1 || port > 65535 ? [invalid(path, port, "must be between 1 and 65535, inclusive")] : [];
}

/** At most 15 of a-z, 0-9 and single hyphens inside, with a letter among them. */
function portNameErrors(name: string, path: string): FieldError[] {
  const rules = [
    name.length > 15 && "must be no more than 15 characters",
    !/^[-a-z0-9]+$/.test(name) && "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
    !/[a-z]/.test(name) && "must contain at least one letter (a-z)",
    name.includes("--") && "must not contain consecutive hyphens",
    /^-|-$/.test(name) && "must not begin or end with a hyphen",
  ];
  return rules.flatMap(rule => (rule ? [invalid(path, name, rule)] : []));
}

function mountsErrors(mounts: readonly VolumeMount[], path: string, volumes: ReadonlySet<string>): FieldError[] {
  const seen = new Set<string>();
  return mounts.flatMap(({ name, mountPath, subPath, subPathExpr }, i) => {
    const at = `${path}[${i}]`;
    const found = requiredText(`${at}.name`, name);
    if (!volumes.has(name))
      found.push({ path: `${at}.name`, reason: "FieldValueNotFound", message: `Not found: ${JSON.stringify(name)}` });
    found.push(...requiredText(`${at}.mountPath`, mountPath));
    if (seen.has(mountPath)) found.push(invalid(`${at}.mountPath`, mountPath, "must be unique"));
    seen.add(mountPath);
    if (subPath) found.push(...relativePathErrors(subPath, `${path}.subPath`));
    if (subPath && subPathExpr) {
      found.push(invalid(`${at}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"));
    }
    return found;
  });
}

const lifecycleHooks = ["postStart", "preStop"] as const;
const probes = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

function hookErrors(container: Container, path: string, { gracePeriodSeconds }: ContainerContext): FieldError[] {
  const found: FieldError[] = [];
  for (const hook of lifecycleHooks) {
    const handler = container.lifecycle?.[hook];
    if (handler) found.push(...handlerErrors(handler, `${path}.lifecycle.${hook}`, gracePeriodSeconds));
  }
  for (const field of probes) {
    const probe = container[field];
    if (probe) found.push(...probeErrors(probe, `${path}.${field}`, gracePeriodSeconds));
  }
  return found;
}

const probeCounts = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
] as const;

function probeErrors(probe: Probe, path: string, gracePeriodSeconds: number): FieldError[] {
  const found = [
    ...handlerErrors(probe, path, gracePeriodSeconds),
    ...probeCounts.flatMap(field => nonNegative(`${path}.${field}`, probe[field])),
  ];
  const { terminationGracePeriodSeconds: grace, successThreshold } = probe;
  const gracePath = `${path}.terminationGracePeriodSeconds`;
  if (grace !== undefined && grace <= 0) found.push(invalid(gracePath, grace, "must be greater than 0"));
  if (path.endsWith("readinessProbe")) {
    if (grace !== undefined) found.push(invalid(gracePath, grace, "must not be set for readinessProbes"));
  } else if (successThreshold !== 1) {
    found.push(invalid(`${path}.successThreshold`, successThreshold ?? 0, "must be 1"));
  }
  return found;
}

const handlerTypes = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function handlerErrors(handler: Handler, path: string, gracePeriodSeconds: number): FieldError[] {
  const [first, ...others] = handlerTypes.filter(type => handler[type]);
  if (first === undefined) return [required(path, "must specify a handler type")];
  const found = others.map(type => forbidden(`${path}.${type}`, "may not specify more than 1 handler type"));
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (first === "exec" && !exec?.command) found.push(required(`${path}.exec.command`, ""));
  if (first === "httpGet" && httpGet) {
    found.push(...portErrors(httpGet.port, `${path}.httpGet.port`));
    found.push(...oneOf(`${path}.httpGet.scheme`, httpGet.scheme, ["HTTP", "HTTPS"]));
  }
  if (first === "tcpSocket" && tcpSocket) found.push(...portErrors(tcpSocket.port, `${path}.tcpSocket.port`));
  if (first === "grpc" && grpc) found.push(...portErrors(grpc.port, `${path}.grpc.port`));
  if (first === "sleep" && sleep && (sleep.seconds < 0 || sleep.seconds > gracePeriodSeconds)) {
    const rule = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriodSeconds})`;
    found.push(invalid(`${path}.sleep`, sleep.seconds, rule));
  }
  return found;
}

function portErrors(port: number | string, path: string): FieldError[] {
  return typeof port === "number" ? portNumberErrors(port, path) : portNameErrors(port, path);
}

// A fresh embedded cluster as a user finds it: the built-in kinds, Fettle's CustomResourceDefinitions, and the four
// namespaces and two priority classes that every cluster has.

import { customResourceDefinition } from "../api/crd.ts";
import { kinds } from "../api/kinds.ts";
import { parseApiVersion } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import { ApiServer, type ApiServerOptions } from "./api-server.ts";
import { builtInKinds } from "./kinds/built-in-kinds.ts";
import { vouchFor } from "./known-schemas.ts";
import { systemPriorityClasses } from "./kinds/priority-class.ts";

const namespaces = ["default", "kube-system", "kube-public", "kube-node-lease"];

export function clusterInTheBox(options: Omit<ApiServerOptions, "kinds">): ApiServer {
  const server = new ApiServer({ ...options, kinds: builtInKinds });
  for (const name of namespaces) {
    create(server, "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  for (const { name, value, description } of systemPriorityClasses) {
    const apiVersion = "scheduling.k8s.io/v1";
    create(server, "priorityclasses", { apiVersion, kind: "PriorityClass", metadata: { name }, value, description });
  }
  for (const kind of kinds) install(server, customResourceDefinition(kind));
  return server;
}

/** Tests judge these definitions: judged anew they would be most of what starting a box takes. */
function install(server: ApiServer, definition: ReturnType<typeof customResourceDefinition>): void {
  for (const { schema } of definition.spec.versions) vouchFor(structuredClone(schema.openAPIV3Schema));
  create(server, "customresourcedefinitions", definition);
}

function create(server: ApiServer, plural: string, object: { apiVersion: string; [field: string]: unknown }): void {
  // The server takes the body over, and the definitions are everybody's.
  const body = structuredClone(object);
  const answer = server.handle({ verb: "create", ...parseApiVersion(object.apiVersion), plural, options: {}, body });
  if (answer.kind === "status") throw new ApiError(answer.status);
}

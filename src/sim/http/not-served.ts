// The parts of Kubernetes that the cluster in the box leaves out on purpose, each with the sentence that says so.
// docs/cluster-in-the-box.md tells the same to a reader.

import type { ApiError } from "../../api/status.ts";
import { noSuchResource } from "../refusal.ts";
import { notImplemented, notServed } from "./refusal.ts";

const groups: Readonly<Record<string, string>> = {
  "rbac.authorization.k8s.io": "it has no RBAC: whoever holds its token may do everything",
  "authorization.k8s.io": "it answers no access reviews: whoever holds its token may do everything",
  "authentication.k8s.io": "it knows one token and no users",
  "admissionregistration.k8s.io": "it calls no admission webhooks and has no admission policies",
  "apiregistration.k8s.io": "it aggregates no other API servers",
};

const kubeletSubresources = new Set(["log", "exec", "attach", "portforward", "proxy"]);

/** Nothing is served at this group, version and plural. */
export function absent(group: string): ApiError {
  const why = groups[group];
  return why === undefined ? noSuchResource() : notServed(`the cluster in the box does not serve ${group}: ${why}`);
}

/** A subresource that needs a kubelet, a container or users, of which the box has none. */
export function absentSubresource(plural: string, subresource: string | undefined): ApiError | undefined {
  if (plural === "serviceaccounts" && subresource === "token") {
    return notServed("the cluster in the box knows one token and no users: serviceaccounts/token is not served");
  }
  if (subresource === undefined || !kubeletSubresources.has(subresource)) return undefined;
  return notImplemented(`the cluster in the box runs no containers: ${plural}/${subresource} is not served`);
}

// Which pods are members of etcd, as the usual installers mark them.

import type { PodView } from "./views.ts";

export function isOfEtcd({ namespace, labels }: PodView): boolean {
  return namespace === "openshift-etcd" || labels["component"] === "etcd" || labels["k8s-app"] === "etcd";
}

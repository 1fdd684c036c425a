// The kubeconfig of a served cluster: all that kubectl needs, in one file that only its owner may read.

import { stringify } from "yaml";
import type { Listening } from "./listener.ts";

const name = "fettle";

export function kubeconfig({ url, ca, token }: Pick<Listening, "url" | "ca" | "token">): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
}

// The kubeconfig of a served cluster: all that kubectl needs, in one file that only its owner may read.

import { stringify } from "yaml";
import type { Listening } from "./listener.ts";

const name = "fettle";

/** By its first line a later start knows that it may replace the file. */
const mark = "# Written by fettle cluster, which replaces it at its next start.\n";

export function isOurKubeconfig(text: string): boolean {
  return text.startsWith(mark);
}

export function kubeconfig({ url, ca, token }: Pick<Listening, "url" | "ca" | "token">): string {
  const config = stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
    "current-context": name,
  });
  return mark + config;
}

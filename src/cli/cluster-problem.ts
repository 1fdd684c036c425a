// Why a cluster cannot be worked with, in a sentence for the person who started the command: which server was meant, by
// whose word, and what to look at.

import { ApiError } from "../api/status.ts";
import { ConfigError, ConnectionError } from "../kube/errors.ts";
import type { ClusterConfig } from "../kube/kubeconfig.ts";
import { Failure } from "./io.ts";

type Named = Pick<ClusterConfig, "server" | "source">;

/** For `.catch`: whatever the cluster's answer was, it is a failure with a reason. */
export function refusedBy(cluster: Named): (cause: unknown) => never {
  return cause => {
    throw new Failure(sentence(cluster, cause), { cause });
  };
}

function sentence({ server, source }: Named, cause: unknown): string {
  const told = (cause instanceof Error ? cause.message : String(cause)).replace(/\.$/, "");
  const named = `${server} (${source})`;
  if (cause instanceof ConfigError) return told;
  if (cause instanceof ConnectionError) {
    const question = /certificate/i.test(told)
      ? "Is the certificate authority of the kubeconfig the cluster's?"
      : "Is it up, and is it the cluster you mean?";
    return `cannot reach the API server ${named}: ${told}. ${question}`;
  }
  if (!(cause instanceof ApiError)) return `the API server ${named} gave no answer that can be used: ${told}`;
  if (cause.code === 401)
    return `the API server ${named} does not know us: ${told}. Are the credentials there and not expired?`;
  if (cause.code === 403)
    return `the API server ${named} does not allow it: ${told}. Grant what fettle install prints, or use another identity`;
  if (cause.code === 404)
    return `the API server ${named} does not have Fettle's kinds: ${told}. Add them: fettle crds | kubectl apply --server-side -f -`;
  return `the API server ${named} refuses: ${told}`;
}

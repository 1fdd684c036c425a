import { expect, test } from "vitest";
import { ApiError } from "../api/status.ts";
import { ConfigError, ConnectionError, TimeoutError } from "../kube/errors.ts";
import { refusedBy } from "./cluster-problem.ts";
import { Failure } from "./io.ts";

const cluster = { server: "https://k.example:6443", source: 'context "a" of ./kubeconfig' };
const named = 'https://k.example:6443 (context "a" of ./kubeconfig)';
const status = (code: number, message: string) =>
  new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, message });

test.each<[string, unknown, string]>([
  [
    "nobody answers",
    new ConnectionError("no connection (connect ECONNREFUSED).", { sent: false }),
    `cannot reach the API server ${named}: no connection (connect ECONNREFUSED). Is it up, and is it the cluster you mean?`,
  ],
  [
    "no answer comes in time",
    new TimeoutError("no answer within 10 s", { sent: true }),
    `cannot reach the API server ${named}: no answer within 10 s. Is it up, and is it the cluster you mean?`,
  ],
  [
    "its certificate is another's",
    new ConnectionError("no connection (unable to verify the first certificate)", { sent: false }),
    `cannot reach the API server ${named}: no connection (unable to verify the first certificate). Is the certificate authority of the kubeconfig the cluster's?`,
  ],
  [
    "we are strangers",
    status(401, "Unauthorized"),
    `the API server ${named} does not know us: Unauthorized. Are the credentials there and not expired?`,
  ],
  [
    "we may not",
    status(403, "leases is forbidden"),
    `the API server ${named} does not allow it: leases is forbidden. Grant what fettle install prints, or use another identity`,
  ],
  [
    "it has not our kinds",
    status(404, "404 page not found"),
    `the API server ${named} does not have Fettle's kinds: 404 page not found. Add them: fettle crds | kubectl apply --server-side -f -`,
  ],
  ["it is broken", status(500, "etcd is away"), `the API server ${named} refuses: etcd is away`],
  [
    "it is no API server",
    new SyntaxError("no JSON"),
    `the API server ${named} gave no answer that can be used: no JSON`,
  ],
  ["the kubeconfig cannot be used", new ConfigError("The token file is empty"), "The token file is empty"],
])("%s: one sentence, exit 1", (_, cause, sentence) => {
  const refuse = () => refusedBy(cluster)(cause);
  expect(refuse).toThrow(new Failure(sentence));
  expect(refuse).toThrow(expect.objectContaining({ exitCode: 1, cause }));
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inClusterConfig } from "./in-cluster.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "fettle-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("a pod reaches its API server with the mounted files", () => {
  writeFileSync(join(dir, "namespace"), "fettle-system\n");
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  expect(inClusterConfig(env, dir)).toEqual({
    source: "the pod's service account",
    server: "https://10.96.0.1:443",
    namespace: "fettle-system",
    ca: { file: join(dir, "ca.crt") },
    insecureSkipTlsVerify: false,
    user: { tokenFile: join(dir, "token") },
  });
});

test("an IPv6 address gets its brackets", () => {
  writeFileSync(join(dir, "namespace"), "x");
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  expect(inClusterConfig(env, dir)?.server).toBe("https://[fd00::1]:443");
});

test.each([{}, { KUBERNETES_SERVICE_HOST: "10.96.0.1" }, { KUBERNETES_SERVICE_HOST: "", KUBERNETES_SERVICE_PORT: "" }])(
  "outside of a pod there is none: %j",
  env => expect(inClusterConfig(env, dir)).toBeUndefined(),
);

test("a pod without a mounted account is told what to do", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1", KUBERNETES_SERVICE_PORT: "443" };
  expect(() => inClusterConfig(env, dir)).toThrow("set automountServiceAccountToken or give a kubeconfig.");
});

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clusterConfig } from "./kube-access.ts";

let folder: string;
const file = (name: string) => join(folder, name);
const config = (name: string) => `
apiVersion: v1
kind: Config
clusters: [{ name: ${name}, cluster: { server: "https://${name}" } }]
users: [{ name: ${name}, user: { token: secret } }]
contexts: [{ name: ${name}, context: { cluster: ${name}, user: ${name} } }]
current-context: ${name}
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-access-"));
  for (const name of ["one", "two"]) await writeFile(file(name), config(name));
});
afterAll(() => rm(folder, { recursive: true }));

test("the kubeconfig that is named goes before the environment", async () => {
  const { server } = await clusterConfig({ kubeconfig: file("one") }, { KUBECONFIG: file("two") });
  expect(server).toBe("https://one");
});

test("KUBECONFIG may name several files, and --context one of their contexts", async () => {
  const env = { KUBECONFIG: `${file("one")}:${file("two")}` };
  expect((await clusterConfig({}, env)).server).toBe("https://one");
  expect((await clusterConfig({ context: "two" }, env)).server).toBe("https://two");
});

test("nothing is taken from the home folder: whoever ends nodes is told where", async () => {
  await expect(clusterConfig({}, { HOME: folder })).rejects.toMatchObject({
    message: "which cluster? Name its kubeconfig with --kubeconfig, or set KUBECONFIG",
    exitCode: 2,
  });
});

test("a file that is not there, a context that is not in it: one sentence each", async () => {
  await expect(clusterConfig({ kubeconfig: file("absent") }, {})).rejects.toThrow(
    /^cannot read the kubeconfig .*absent: there is no such file or directory$/,
  );
  await expect(clusterConfig({ kubeconfig: file("one"), context: "x" }, {})).rejects.toThrow(/has no context "x"/);
});

test("the proxy of the environment, unless the kubeconfig names one", async () => {
  const env = { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "two" };
  expect((await clusterConfig({ kubeconfig: file("one") }, env)).proxyUrl).toBe("http://proxy:3128");
  expect((await clusterConfig({ kubeconfig: file("two"), context: "two" }, env)).proxyUrl).toBeUndefined();
});

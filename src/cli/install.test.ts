import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { kinds } from "../api/kinds.ts";
import type { Manifest } from "../api/meta.ts";
import { installationYaml } from "./install.ts";
import type { Io } from "./io.ts";
import { run } from "./program.ts";

const root = join(import.meta.dirname, "../..");

async function install(...args: string[]) {
  const printed = { out: "", err: "" };
  const io = { out: (text: string) => (printed.out += text), err: (text: string) => (printed.err += text), env: {} };
  const code = await run(["install", ...args], io as unknown as Io, "1.2.3");
  return { code, ...printed };
}

type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] };
type Role = Manifest & { rules: Rule[] };
type Pod = {
  securityContext: Record<string, unknown>;
  containers: { image: string; args: string[]; securityContext: Record<string, unknown>; [field: string]: unknown }[];
  [field: string]: unknown;
};

const documents = (yaml: string) => parseAllDocuments(yaml).map(document => document.toJS() as Manifest);
const printedByArgs = new Map<string, Promise<Manifest[]>>();
/** Printed and read once for each command line: the CRDs are long. */
const objects = (...args: string[]): Promise<Manifest[]> => {
  const key = args.join(" ");
  const printed = printedByArgs.get(key) ?? install(...args).then(({ out }) => documents(out));
  printedByArgs.set(key, printed);
  return printed;
};
/** With rules of ours. */
const rolesIn = (all: readonly Manifest[]) =>
  all.filter(one => one.kind.endsWith("Role") && !("aggregationRule" in one)) as Role[];
const podIn = (all: readonly Manifest[]) => {
  const deployment = all.find(({ kind }) => kind === "Deployment") as unknown as { spec: { template: { spec: Pod } } };
  return deployment.spec.template.spec;
};

test("prints every CRD and then all that runs the controller", async () => {
  const printed = (await objects()).map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`);
  expect(printed.slice(kinds.length)).toEqual([
    "Namespace /fettle-system",
    "Namespace /medik8s-leases",
    "ServiceAccount fettle-system/fettle",
    "ClusterRole /fettle",
    "ClusterRoleBinding /fettle",
    "ClusterRole /fettle-ext-remediation",
    "ClusterRoleBinding /fettle-ext-remediation",
    "Role kube-system/fettle",
    "RoleBinding kube-system/fettle",
    "Role kube-node-lease/fettle",
    "RoleBinding kube-node-lease/fettle",
    "Role medik8s-leases/fettle",
    "RoleBinding medik8s-leases/fettle",
    "Deployment fettle-system/fettle",
    "PodDisruptionBudget fettle-system/fettle",
  ]);
});

test("a list with -o json holds the same", async () => {
  const { out } = await install("-o", "json");
  expect((JSON.parse(out) as { items: unknown[] }).items).toEqual(await objects());
});

test("flags say where, how many and from which image", async () => {
  const all = await objects("--namespace", "nodes", "--replicas", "3", "--image", "registry.example/fettle:1");
  expect(podIn(all).containers[0]?.image).toBe("registry.example/fettle:1");
  expect(all.find(({ kind }) => kind === "Deployment")).toMatchObject({
    metadata: { namespace: "nodes" },
    spec: { replicas: 3 },
  });
  const bindings = all.filter(({ kind }) => kind.endsWith("Binding")) as unknown as { subjects: object[] }[];
  for (const { subjects } of bindings) expect(subjects).toMatchObject([{ name: "fettle", namespace: "nodes" }]);
});

test.each([
  [["--replicas", "0"], "a number from 1 to 99"],
  [["--namespace", "No Such"], "small letters, digits and hyphens"],
  [["--provider", "ec2"], "it must be simulated or none."],
  [["--image", ""], "it must name an image, such as registry.example/fettle:1."],
  [["--image", "two words"], "it must name an image"],
])("%j makes no sense: exit 2", async (args, sentence) => {
  const { code, err } = await install(...args);
  expect(code).toBe(2);
  expect(err).toContain(sentence);
});

test("of the image that nobody publishes it is said so, beside what is printed", async () => {
  expect((await install()).err).toBe(
    "fettle: no registry has fettle:1.2.3: build it (docs/install.md) and name it with --image\n",
  );
  expect((await install("--image", "registry.example:5000/team/fettle:1")).err).toBe("");
  expect((await install("--image", `registry.example/fettle@sha256:${"a".repeat(64)}`)).code).toBe(0);
});

describe.each(["none", "simulated"])("the roles with the provider %s", provider => {
  const roles = async () => rolesIn(await objects("--provider", provider));
  const rules = async () => (await roles()).flatMap(role => role.rules);

  test("hold no wildcard and nothing by which one could get more", async () => {
    for (const rule of await rules()) {
      const words = [...rule.apiGroups, ...rule.resources, ...rule.verbs, ...(rule.resourceNames ?? [])];
      expect(words.filter(word => word.includes("*"))).toEqual([]);
      expect(rule.verbs.filter(verb => ["escalate", "bind", "impersonate", "deletecollection"].includes(verb))).toEqual(
        [],
      );
    }
  });

  test("hold no Secret, no node status and nothing of roles", async () => {
    const resources = (await rules()).flatMap(rule => rule.resources);
    expect(resources.filter(name => /secret|nodes\/|role|serviceaccount|pods\/exec/.test(name))).toEqual([]);
  });

  test("say of each right what it is for", async () => {
    for (const role of await roles()) {
      const reasons = role.metadata.annotations?.["fettle.dev/reasons"]?.trimEnd().split("\n") ?? [];
      expect(reasons).toHaveLength(role.rules.length);
      for (const reason of reasons) expect(reason).toMatch(/^[a-z/]+ \([a-z, ]+\): [A-Z].*\.$/);
    }
  });
});

test("of the role by aggregation the rules are the cluster's: it is applied again without a conflict", async () => {
  const [role, ...others] = (await objects()).filter(one => "aggregationRule" in one);
  expect(others).toEqual([]);
  const matchLabels = { "rbac.ext-remediation/aggregate-to-ext-remediation": "true" };
  expect(role).toMatchObject({ aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } });
  expect(role).not.toHaveProperty("rules");
});

test("ConfigMaps may be written in the simulated cloud's namespace, and only with that provider", async () => {
  const holders = (all: readonly Manifest[]) =>
    rolesIn(all)
      .filter(({ rules }) => rules.some(({ resources }) => resources.includes("configmaps")))
      .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ""}`);
  expect(holders(await objects())).toEqual([]);
  const simulated = await objects("--provider", "simulated");
  expect(holders(simulated)).toEqual(["Role fettle-simulated"]);
  expect(simulated).toContainEqual(
    expect.objectContaining({ kind: "Namespace", metadata: expect.objectContaining({ name: "fettle-simulated" }) }),
  );
});

describe("the pod", () => {
  test("meets the restricted Pod Security Standard, field by field", async () => {
    const pod = podIn(await objects());
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(pod.securityContext["runAsUser"]).not.toBe(0);
    for (const field of ["hostNetwork", "hostPID", "hostIPC", "volumes"]) expect(pod[field]).toBeUndefined();
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    }
  });

  test("is looked after: probes, resources, priority, spread", async () => {
    const pod = podIn(await objects("--provider", "simulated"));
    expect(pod).toMatchObject({ serviceAccountName: "fettle", priorityClassName: "system-cluster-critical" });
    expect(pod["topologySpreadConstraints"]).toHaveLength(2);
    expect(pod.containers[0]).toMatchObject({
      image: "fettle:1.2.3",
      args: ["run", "--provider=simulated"],
      livenessProbe: { httpGet: { path: "/healthz", port: "metrics" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "metrics" } },
      ports: [{ name: "metrics", containerPort: 8080 }],
    });
    expect(pod.containers[0]?.["resources"]).toHaveProperty("requests.memory");
  });
});

test("deploy/fettle.yaml is what fettle install prints beside the CRDs; after a change: npm run generate", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  expect(readFileSync(join(root, "deploy/fettle.yaml"), "utf8") === installationYaml(version)).toBe(true);
});

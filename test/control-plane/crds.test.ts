// Our CustomResourceDefinitions on a real API server: taken whole, defaulting as we do, and their transition rules kept.

import { beforeAll, describe, expect, test } from "vitest";
import { crdName, crdYaml, customResourceDefinition } from "../../src/api/crd.ts";
import { kindOf, kinds } from "../../src/api/kinds.ts";
import type { Manifest } from "../../src/api/meta.ts";
import { applyDefaults } from "../../src/api/schema/defaults.ts";
import { isUnavailable } from "./binaries.ts";
import { established } from "./established.ts";
import { sharedControlPlane } from "./shared.ts";
import type { ControlPlane } from "./start.ts";

const fettle = "fettle.dev/v1alpha1";
const medik8s = "remediation.medik8s.io/v1alpha1";
const karpenter = "karpenter.sh/v1";

let server: ControlPlane;

async function kubectl(args: readonly string[], input?: unknown): Promise<string> {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const { code, stdout, stderr } = await server.kubectl(args, input === undefined ? undefined : text);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

const json = async (args: readonly string[], input?: unknown) =>
  JSON.parse(await kubectl([...args, "-o", "json"], input)) as Record<string, unknown>;
const dryRun = (manifest: unknown) => json(["create", "--dry-run=server", "-f", "-"], manifest);

function object(apiVersion: string, kind: string, spec: unknown, name = "crds-test"): Manifest {
  return { apiVersion, kind, metadata: { name }, ...(spec === undefined ? {} : { spec }) };
}

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kubectl"))("on a real API server", () => {
  beforeAll(async () => {
    server = await sharedControlPlane();
    const stream = kinds.map(kind => crdYaml(customResourceDefinition(kind))).join("---\n");
    // Server-side: other suites may be installing the same ones at this moment.
    await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], stream);
    await established(server);
  });

  test.each(kinds)(
    "the CRD of $resource.kind is taken whole: no keyword dropped, structural, names accepted",
    async kind => {
      const ours = customResourceDefinition(kind);
      const stored = await json(["get", "crd", crdName(kind)]);
      expect(stored["spec"]).toMatchObject(JSON.parse(JSON.stringify(ours.spec)) as object);
      const { conditions } = stored["status"] as { conditions: { type: string; status: string }[] };
      const statuses = conditions.map(({ type, status }) => `${type}=${status}`).sort();
      expect(statuses).toEqual(["Established=True", "NamesAccepted=True"]);
      const served = stored["spec"] as { versions: { schema: { openAPIV3Schema: unknown } }[] };
      for (const { schema } of served.versions) expect(schema.openAPIV3Schema).toEqual(kind.schema);
    },
  );

  const template = { apiVersion: "medik8s.io/v1alpha1", kind: "PoisonPillRemediationTemplate", name: "default" };
  const spoken = {
    node: { name: "n", uid: "u" },
    action: "Repair",
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "default" },
    message: "Ready=False for 30m",
    evidence: [{ kind: "Condition", seenAt: "2026-01-01T00:00:00Z" }],
    decidedAt: "2026-01-01T00:00:00Z",
    epoch: 1,
  };
  const minimal: Manifest[] = [
    object(karpenter, "NodePool", {}),
    object("karpenter.sh/v1beta1", "NodePool", {
      template: { spec: {} },
      disruption: { windows: [{ schedule: "@daily", duration: "1h" }] },
      repair: { policies: [{ conditionType: "Ready", toleration: "0s" }] },
    }),
    object(karpenter, "NodeClaim", {}),
    object(medik8s, "NodeHealthCheck", { remediationTemplate: template }),
    object(fettle, "NodeAction", spoken),
    object(fettle, "SafetyPolicy", undefined, "default"),
    object(fettle, "SafetyPolicy", { freeze: { reason: "r" }, caps: { all: { perWindow: {} } } }, "default"),
    object(fettle, "SimulatedNodeClass", undefined),
    object(fettle, "SimulatedNodeClass", {
      catalogue: {},
      faults: [{ kind: "Flaps" }],
      reboot: { time: { p99: "5m" } },
    }),
    object(fettle, "SimulatedNodeClass", {
      instanceTypes: [{ name: "a", capacity: { cpu: 1 }, offerings: [{ zone: "z", capacityType: "spot" }] }],
    }),
    object(fettle, "ReplaceRemediation", undefined),
    object(fettle, "ReplaceRemediationTemplate", { template: {} }),
    object(fettle, "RebootRemediation", undefined),
    object(fettle, "RebootRemediationTemplate", { template: { spec: { attempts: 3 } } }),
  ];

  test.each(minimal)("$kind $spec is defaulted by the server as by us", async manifest => {
    const ours = structuredClone(manifest);
    applyDefaults(ours, kindOf(ours)?.schema ?? {});
    const { spec } = await dryRun(manifest);
    expect(spec).toEqual(ours["spec"]);
  });

  test("a SafetyPolicy of another name is refused, at the name", async () => {
    const refusal = dryRun(object(fettle, "SafetyPolicy", {}, "other"));
    await expect(refusal).rejects.toThrow(
      "metadata.name: Invalid value: there is one SafetyPolicy, and its name is default",
    );
  });

  describe("transition rules", () => {
    const ref = { group: "karpenter.k8s.aws", kind: "EC2NodeClass", name: "default" };
    const withClass = (nodeClassRef: unknown) => ({ template: { spec: { nodeClassRef } } });
    const { group: _, ...aliased } = { ...ref, apiVersion: "karpenter.k8s.aws/v1beta1" };
    const claim = {
      requirements: [{ key: "karpenter.sh/nodepool", operator: "In", values: ["a"] }],
      readinessTTL: "5m",
    };

    test.each<[string, string, unknown, unknown, string | undefined]>([
      ["a pool's class may have another name", "NodePool", withClass(ref), withClass({ ...ref, name: "b" }), undefined],
      ["and be named by apiVersion", "NodePool", withClass(ref), withClass(aliased), undefined],
      [
        "but not of another group",
        "NodePool",
        withClass(ref),
        withClass({ ...ref, group: "b" }),
        "group of nodeClassRef is immutable",
      ],
      [
        "also by apiVersion",
        "NodePool",
        withClass(aliased),
        withClass({ ...aliased, apiVersion: "b/v1" }),
        "group of nodeClassRef is immutable",
      ],
      [
        "nor of another kind",
        "NodePool",
        withClass(ref),
        withClass({ ...ref, kind: "B" }),
        "kind of nodeClassRef is immutable",
      ],
      ["and it cannot be removed", "NodePool", withClass(ref), {}, "nodeClassRef cannot be removed"],
      ["it may be added", "NodePool", {}, withClass(ref), undefined],
      ["replicas may change", "NodePool", { replicas: 1 }, { replicas: 0 }, undefined],
      ["but not come", "NodePool", {}, { replicas: 1 }, "replicas can be neither added nor removed"],
      ["nor go", "NodePool", { replicas: 1 }, {}, "replicas can be neither added nor removed"],
      [
        "a claim stays as it is",
        "NodeClaim",
        claim,
        { ...claim, readinessTTL: "6m" },
        "the spec of a NodeClaim is immutable",
      ],
      [
        "an action may gain evidence",
        "NodeAction",
        spoken,
        { ...spoken, evidence: [...spoken.evidence, ...spoken.evidence] },
        undefined,
      ],
      [
        "but not another node",
        "NodeAction",
        spoken,
        { ...spoken, node: { name: "n", uid: "v" } },
        "node, action and method are immutable",
      ],
      [
        "nor another action",
        "NodeAction",
        spoken,
        { ...spoken, action: "Drift" },
        "node, action and method are immutable",
      ],
      ["a newer leader may adopt it", "NodeAction", spoken, { ...spoken, epoch: 2 }, undefined],
      ["an older one may not", "NodeAction", spoken, { ...spoken, epoch: 0 }, "a newer leader has adopted this action"],
      [
        "its deadline comes nearer",
        "NodeAction",
        { ...spoken, deadline: "2026-01-01T01:00:00Z" },
        { ...spoken, deadline: "2026-01-01T00:59:59Z" },
        undefined,
      ],
      [
        "never later",
        "NodeAction",
        { ...spoken, deadline: "2026-01-01T01:00:00Z" },
        { ...spoken, deadline: "2026-01-01T01:00:01Z" },
        "a deadline can only come nearer",
      ],
      [
        "and is not taken back",
        "NodeAction",
        { ...spoken, deadline: "2026-01-01T01:00:00Z" },
        spoken,
        "a deadline can only come nearer",
      ],
    ])("%s", async (title, kind, before, after, refusal) => {
      const apiVersion = kind === "NodeAction" ? fettle : karpenter;
      const name = `crds-${title.replaceAll(/[^a-z]+/g, "-")}`;
      await kubectl(["create", "-f", "-"], object(apiVersion, kind, before, name));
      const { code, stderr } = await server.kubectl(
        ["replace", "-f", "-"],
        JSON.stringify(object(apiVersion, kind, after, name)),
      );
      expect({ refused: code !== 0, why: stderr }).toEqual({
        refused: refusal !== undefined,
        why: expect.stringContaining(refusal ?? ""),
      });
      await kubectl(["delete", kind.toLowerCase(), name]);
    });

    test("an action that is over stays over", async () => {
      const name = "crds-over";
      const phase = (to: string) =>
        kubectl([
          "patch",
          "nodeaction",
          name,
          "--subresource=status",
          "--type=merge",
          "-p",
          JSON.stringify({ status: { phase: to } }),
        ]);
      await kubectl(["create", "-f", "-"], object(fettle, "NodeAction", spoken, name));
      for (const to of ["Pending", "Running", "Done"]) await phase(to);
      await expect(phase("Running")).rejects.toThrow("an action that is over stays over");
      await kubectl(["delete", "nodeaction", name]);
    });
  });

  test("kubectl knows the kinds by their short names, columns and categories", async () => {
    await kubectl(["create", "-f", "-"], object(fettle, "NodeAction", spoken, "crds-columns"));
    const columns = (text: string) =>
      text
        .split("\n")[0]
        ?.split(/\s{2,}/)
        .filter(name => name !== "");
    expect(columns(await kubectl(["get", "na"]))).toEqual(["NAME", "NODE", "ACTION", "PHASE", "ASKEDBY", "AGE"]);
    expect(await kubectl(["get", "fettle", "-o", "name"])).toContain("nodeaction.fettle.dev/crds-columns");
    const selected = ["get", "na", "-o", "name", "--field-selector"];
    expect(await kubectl([...selected, "spec.node.name=n"])).toContain("crds-columns");
    expect(await kubectl([...selected, "spec.node.name=other"])).toBe("");
    await kubectl(["delete", "na", "crds-columns"]);
    const names = await kubectl(["api-resources", "--categories=fettle", "--no-headers"]);
    expect(names.trim().split("\n")).toHaveLength(kinds.length);
    for (const short of ["nhc", "na", "safety", "simnc"]) expect(names).toMatch(new RegExp(`\\s${short}\\s`));
  });

  test("kubectl scales a pool, explains a field, and reads one version as the other", async () => {
    await kubectl(["create", "-f", "-"], object("karpenter.sh/v1beta1", "NodePool", { replicas: 1 }, "crds-scaled"));
    await kubectl(["scale", "nodepool", "crds-scaled", "--replicas=4"]);
    const read = await json(["get", "nodepools.v1.karpenter.sh", "crds-scaled"]);
    expect(read).toMatchObject({ apiVersion: karpenter, spec: { replicas: 4 } });
    await kubectl(["delete", "nodepool", "crds-scaled"]);
    expect(await kubectl(["explain", "nodepool.spec.repair.maxUnhealthy"])).toMatch(/The brake: .*Default\s+20%/s);
  });
});

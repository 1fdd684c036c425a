import { describe, expect, test } from "vitest";
import { type Call, EmbeddedServer } from "../../../test/embedded-server.ts";
import type { KubeObject } from "../../api/meta.ts";
import { builtInKinds } from "./built-in-kinds.ts";

type At = Pick<Call, "group" | "plural">;

const namespaces: At = { group: "", plural: "namespaces" };
const configMaps: At = { group: "", plural: "configmaps" };
const secrets: At = { group: "", plural: "secrets" };
const leases: At = { group: "coordination.k8s.io", plural: "leases" };
const budgets: At = { group: "policy", plural: "poddisruptionbudgets" };
const classes: At = { group: "scheduling.k8s.io", plural: "priorityclasses" };
const storageClasses: At = { group: "storage.k8s.io", plural: "storageclasses" };
const claims: At = { group: "", plural: "persistentvolumeclaims" };
const volumes: At = { group: "", plural: "persistentvolumes" };
const attachments: At = { group: "storage.k8s.io", plural: "volumeattachments" };
const csiNodes: At = { group: "storage.k8s.io", plural: "csinodes" };

function created(at: At, body: object = {}, server = new EmbeddedServer()): KubeObject {
  return server.written({ verb: "create", ...at, body: { metadata: { name: "x" }, ...body } });
}

function changed(at: At, before: object, patch: object): KubeObject {
  const server = new EmbeddedServer();
  created(at, before, server);
  return server.written({ verb: "merge", ...at, name: "x", body: patch });
}

/** The row of `kubectl get`, without name and age. */
function row(at: At, object: KubeObject): unknown[] {
  const kind = builtInKinds.find(({ resource }) => resource.group === at.group && resource.plural === at.plural);
  const columns = kind?.columns.filter(({ name }) => name !== "Name" && name !== "Age") ?? [];
  return columns.map(column => column.cell(object, 0));
}

const claim = (spec: object = {}) => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const volume = (spec: object = {}) => ({
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/data" }, ...spec },
});

describe("what the server fills in", () => {
  test("a namespace is active, named by a label and held by a finalizer", () => {
    expect(created(namespaces, { status: { phase: "Terminating" } })).toMatchObject({
      metadata: { labels: { "kubernetes.io/metadata.name": "x" } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("a generated namespace is labelled with the name it got", () => {
    const body = { metadata: { generateName: "gen-" } };
    const { metadata } = new EmbeddedServer().written({ verb: "create", ...namespaces, body });
    expect(metadata.labels).toEqual({ "kubernetes.io/metadata.name": metadata.name });
  });

  test("text in a secret is kept as bytes", () => {
    const { data, stringData, type } = created(secrets, { data: { a: "b2xk", b: "" }, stringData: { a: "new" } });
    expect({ data, stringData, type }).toEqual({ data: { a: "bmV3", b: "" }, stringData: undefined, type: "Opaque" });
  });

  test.each<["merge" | "strategic" | "update", object]>([
    ["merge", { stringData: { a: "new" } }],
    ["strategic", { stringData: { a: "new" } }],
    ["update", { metadata: { name: "x" }, data: { a: "b2xk", b: "Yg==" }, stringData: { a: "new" } }],
  ])("text in a %s of a secret replaces the bytes, beside those that stay", (verb, body) => {
    const server = new EmbeddedServer();
    created(secrets, { data: { a: "b2xk", b: "Yg==" } }, server);
    const { data, stringData } = server.written({ verb, ...secrets, name: "x", body });
    expect({ data, stringData }).toEqual({ data: { a: "bmV3", b: "Yg==" }, stringData: undefined });
  });

  test("text that an immutable secret has already changes nothing", () => {
    const before = { data: { a: "b2xk" }, immutable: true };
    expect(changed(secrets, before, { stringData: { a: "old" } })["data"]).toEqual({ a: "b2xk" });
  });

  test.each<[string, At, object, object]>([
    [
      "storage class",
      storageClasses,
      { provisioner: "p" },
      { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
    ],
    [
      "priority class",
      classes,
      {},
      { value: 0, preemptionPolicy: "PreemptLowerPriority", metadata: { generation: 1 } },
    ],
    ["claim", claims, claim(), { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } }],
    [
      "volume",
      volumes,
      volume(),
      {
        spec: { volumeMode: "Filesystem", persistentVolumeReclaimPolicy: "Retain" },
        status: { phase: "Pending", lastPhaseTransitionTime: "2026-01-01T00:00:00Z" },
      },
    ],
    ["attachment", attachments, attachment(), { status: { attached: false } }],
    ["csi node", csiNodes, {}, { spec: { drivers: null } }],
    [
      "budget",
      budgets,
      {},
      { status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 } },
    ],
    ["lease", leases, { spec: { strategy: "OldestEmulationVersion" } }, { spec: {} }],
  ])("%s", (_, at, body, expected) => {
    expect(created(at, body)).toMatchObject(expected);
  });

  test("a claim without a class gets the default one, of several the newest", () => {
    const server = new EmbeddedServer();
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    for (const name of ["b", "a"]) {
      const body = { metadata: { name, annotations }, provisioner: "p" };
      server.written({ verb: "create", ...storageClasses, body });
    }
    expect(created(claims, claim(), server).spec).toMatchObject({ storageClassName: "a" });
    const { spec } = server.written({
      verb: "create",
      ...claims,
      body: { metadata: { name: "y" }, ...claim({ storageClassName: "" }) },
    });
    expect(spec).toMatchObject({ storageClassName: "" });
  });

  test("the phase of a volume keeps the time it began", () => {
    const server = new EmbeddedServer();
    created(volumes, volume(), server);
    const body = { status: { phase: "Bound", lastPhaseTransitionTime: null } };
    const bound = server.written({ verb: "merge", ...volumes, name: "x", subresource: "status", body });
    expect(bound.status).toEqual({ phase: "Bound", lastPhaseTransitionTime: "2026-01-01T00:00:00Z" });
  });
});

function attachment(spec: object = {}): object {
  return { spec: { attacher: "example.com", nodeName: "n", source: { persistentVolumeName: "v" }, ...spec } };
}

describe("refused", () => {
  const driver = { name: "example.com", nodeID: "n", topologyKeys: null };
  test.each<[At, object, string]>([
    [namespaces, { metadata: { name: "a.b" } }, "must not contain dots"],
    [namespaces, { spec: { finalizers: ["mine"] } }, "neither a standard finalizer name nor is it fully qualified"],
    [configMaps, { data: { "..": "" } }, "must not be '..'"],
    [configMaps, { data: { a: "" }, binaryData: { a: "" } }, "duplicate of key present in binaryData"],
    [configMaps, { data: { a: "x".repeat(1024 * 1024 + 1) } }, "may not be more than 1048576 bytes"],
    [secrets, { type: "kubernetes.io/tls" }, "data[tls.crt]: Required value"],
    [
      secrets,
      { type: "kubernetes.io/service-account-token" },
      "metadata.annotations[kubernetes.io/service-account.name]",
    ],
    [leases, { spec: { leaseDurationSeconds: 0 } }, "must be greater than 0"],
    [leases, { spec: { renewTime: "2026-01-01T00:00:00Z" } }, 'cannot parse "Z" as ".000000"'],
    [budgets, { spec: { minAvailable: 1, maxUnavailable: 1 } }, "minAvailable and maxUnavailable cannot be both set"],
    [budgets, { spec: { minAvailable: "101%" } }, "must not be greater than 100%"],
    [budgets, { spec: { maxUnavailable: "half" } }, "a valid percent string"],
    [classes, { value: 1_000_000_001 }, "maximum allowed value of a user defined priority is 1000000000"],
    [classes, { metadata: { name: "system-x" } }, "system-x is not a known system priority class"],
    [
      classes,
      { metadata: { name: "system-node-critical" }, value: 5 },
      "value of system-node-critical PriorityClass must be",
    ],
    [storageClasses, {}, "provisioner: Required value"],
    [storageClasses, { provisioner: "p", reclaimPolicy: "Burn" }, 'supported values: "Delete", "Retain"'],
    [claims, claim({ accessModes: [] }), "at least 1 access mode is required"],
    [claims, claim({ resources: {} }), "spec.resources[storage]: Required value"],
    [
      claims,
      claim({ accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }),
      "may not use ReadWriteOncePod with other access modes",
    ],
    [volumes, volume({ hostPath: null }), "must specify a volume type"],
    [
      volumes,
      volume({ nfs: { path: "/", server: "s" } }),
      "spec.nfs: Forbidden: may not specify more than 1 volume type",
    ],
    [volumes, volume({ hostPath: null, local: { path: "/mnt" } }), "Local volume requires node affinity"],
    [attachments, attachment({ source: {} }), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"],
    [csiNodes, { spec: { drivers: [driver, driver] } }, 'spec.drivers[1].name: Duplicate value: "example.com"'],
  ])("%j %j", (at, body, why) => {
    expect(() => created(at, body)).toThrow(why);
  });

  test.each<[At, object, object, string]>([
    [configMaps, { immutable: true }, { data: { a: "b" } }, "field is immutable when `immutable` is set"],
    [configMaps, { immutable: true }, { immutable: false }, "field is immutable when `immutable` is set"],
    [secrets, { data: { a: "Yg==" }, immutable: true }, { stringData: { a: "new" } }, "data: Forbidden: field is imm"],
    [secrets, { data: { a: "Yg==" } }, { stringData: { "a b": "new" } }, "a valid config key must consist of"],
    [secrets, {}, { type: "other" }, "type: Invalid value"],
    [classes, { value: 5 }, { value: 6 }, "may not be changed in an update"],
    [storageClasses, { provisioner: "p" }, { provisioner: "q" }, "field is immutable"],
    [claims, claim(), { spec: { accessModes: ["ReadWriteMany"] } }, "spec is immutable after creation"],
    [volumes, volume(), { spec: { hostPath: { path: "/other" } } }, "is immutable after creation"],
    [attachments, attachment(), { spec: { nodeName: "m" } }, "field is immutable"],
    [
      csiNodes,
      { spec: { drivers: [driver] } },
      { spec: { drivers: [{ ...driver, nodeID: "m" }] } },
      "field is immutable",
    ],
  ])("a change of %j", (at, before, patch, why) => {
    expect(() => changed(at, before, patch)).toThrow(why);
  });

  test("a second default priority class", () => {
    const server = new EmbeddedServer();
    created(classes, { globalDefault: true }, server);
    const body = { metadata: { name: "y" }, globalDefault: true };
    expect(() => server.written({ verb: "create", ...classes, body })).toThrow(
      "PriorityClass x is already marked as default",
    );
  });
});

describe("kubectl get", () => {
  test.each<[string, At, object, unknown[]]>([
    ["namespaces", namespaces, {}, ["Active"]],
    ["configmaps", configMaps, { data: { a: "" }, binaryData: { b: "YQ==" } }, [2]],
    ["secrets", secrets, { stringData: { a: "b" } }, ["Opaque", 1]],
    ["leases", leases, { spec: { holderIdentity: "me" } }, ["me"]],
    ["budgets", budgets, { spec: { minAvailable: "50%" } }, ["50%", "N/A", 0]],
    ["budgets of none", budgets, { spec: { maxUnavailable: 0 } }, ["N/A", "0", 0]],
    ["priority classes", classes, { value: 3 }, [3, false, "PreemptLowerPriority"]],
    ["storage classes", storageClasses, { provisioner: "p" }, ["p", "Delete", "Immediate", false]],
    ["claims", claims, claim(), ["Pending", "", "", "", "", "<unset>", "Filesystem"]],
    [
      "volumes",
      volumes,
      volume({
        accessModes: ["ReadWriteMany", "ReadWriteOnce"],
        claimRef: { namespace: "a", name: "b" },
        storageClassName: "s",
      }),
      ["1Gi", "RWO,RWX", "Retain", "Pending", "a/b", "s", "<unset>", "", "Filesystem"],
    ],
    ["attachments", attachments, attachment(), ["example.com", "v", "n", false]],
    ["csi nodes", csiNodes, { spec: { drivers: [{ name: "d", nodeID: "n" }] } }, [1]],
  ])("%s", (_, at, body, cells) => {
    expect(row(at, created(at, body))).toEqual(cells);
  });
});

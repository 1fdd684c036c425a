import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decode } from "./decode.ts";
import { type Shape, structShape } from "./shape.ts";

const podName = "io.k8s.api.core.v1.Pod";
const nodeName = "io.k8s.api.core.v1.Node";

function read(object: Record<string, unknown>, name = podName): Record<string, unknown> {
  decode(object, name);
  return object;
}

const spec = (fields: object) => ({ metadata: { name: "a" }, spec: { containers: [], ...fields } });
const specOf = (fields: object) => (read(spec(fields)) as { spec: Record<string, unknown> }).spec;
const container = (fields: object) => {
  const { containers } = specOf({ containers: [{ name: "c", ...fields }] }) as { containers: object[] };
  return containers[0];
};

describe("zero values", () => {
  test("an optional scalar is dropped when it is zero", () => {
    expect(specOf({ nodeName: "", hostNetwork: false })).toEqual({ containers: null });
  });

  test("an optional scalar that can tell zero from absent keeps it", () => {
    const kept = { priority: 0, terminationGracePeriodSeconds: 0, automountServiceAccountToken: false };
    expect(specOf(kept)).toEqual({ containers: null, ...kept });
  });

  test("empty lists and maps are dropped, empty structs are kept", () => {
    expect(specOf({ tolerations: [], nodeSelector: {}, securityContext: {} })).toEqual({
      containers: null,
      securityContext: {},
    });
  });

  test("null is as good as absent", () => {
    expect(specOf({ nodeName: null, securityContext: null, priority: null })).toEqual({ containers: null });
  });

  test("what Go always writes is put in, to any depth", () => {
    expect(read({ metadata: { name: "a" } }, nodeName)).toEqual({
      metadata: { name: "a" },
      spec: {},
      status: {
        daemonEndpoints: { kubeletEndpoint: { Port: 0 } },
        nodeInfo: {
          architecture: "",
          bootID: "",
          containerRuntimeVersion: "",
          kernelVersion: "",
          kubeProxyVersion: "",
          kubeletVersion: "",
          machineID: "",
          operatingSystem: "",
          osImage: "",
          systemUUID: "",
        },
      },
    });
  });

  test("a time that is always written and absent is null", () => {
    const conditions = [{ type: "Ready", status: "True" }];
    const node = read({ status: { conditions } }, nodeName) as { status: { conditions: object[] } };
    expect(node.status.conditions).toEqual([
      { type: "Ready", status: "True", lastHeartbeatTime: null, lastTransitionTime: null },
    ]);
  });

  test("null in a list or a map becomes the zero value of its type", () => {
    expect(container({ args: ["a", null], resources: { limits: { cpu: null } } })).toEqual({
      name: "c",
      args: ["a", ""],
      resources: { limits: { cpu: "0" } },
    });
  });
});

describe("canonical forms", () => {
  test.each([
    ["1000m", "1"],
    [0.5, "500m"],
    ["1Gi", "1Gi"],
    ["1048576Ki", "1Gi"],
    ["100u", "1m"],
  ])("%s of a resource is kept as %s", (amount, kept) => {
    expect(container({ resources: { limits: { cpu: amount } } })).toMatchObject({
      resources: { limits: { cpu: kept } },
    });
  });

  test("an amount that is no resource keeps its smallest parts", () => {
    const volumes = [{ name: "v", emptyDir: { sizeLimit: "100u" } }];
    expect(specOf({ volumes })).toMatchObject({ volumes: [{ emptyDir: { sizeLimit: "100u" } }] });
  });

  test("a time is written in UTC and whole seconds", () => {
    const taints = [{ key: "a", effect: "b", timeAdded: "2021-03-04T07:06:07.9+02:00" }];
    const node = read({ spec: { taints } }, nodeName);
    expect(node).toMatchObject({ spec: { taints: [{ timeAdded: "2021-03-04T05:06:07Z" }] } });
  });

  test("base64 loses its line breaks", () => {
    expect(read({ data: { a: "YQ\n==\n" } }, "io.k8s.api.core.v1.Secret")).toMatchObject({ data: { a: "YQ==" } });
  });
});

describe("unknown fields", () => {
  test("are left, and reported", () => {
    const object = spec({ bogus: 1 });
    expect(decode(object, podName)).toBe(true);
    expect(object.spec).toHaveProperty("bogus", 1);
  });

  test("there are none in what the types know", () => {
    expect(decode(spec({ nodeName: "n" }), podName)).toBe(false);
  });
});

describe("what the types cannot hold is refused in the decoder's words", () => {
  const cannot = (what: string, field: string, type: string) =>
    `json: cannot unmarshal ${what} into Go struct field ${field} of type ${type}`;
  test.each([
    [{ metadata: { name: 1 } }, cannot("number", "ObjectMeta.metadata.name", "string")],
    [{ metadata: { labels: { a: 1 } } }, cannot("number", "ObjectMeta.metadata.labels", "string")],
    [{ metadata: { labels: [] } }, cannot("array", "ObjectMeta.metadata.labels", "map[string]string")],
    [{ spec: [] }, cannot("array", "Pod.spec", "v1.PodSpec")],
    [{ spec: { containers: {} } }, cannot("object", "PodSpec.spec.containers", "[]v1.Container")],
    [{ spec: { containers: [{ image: 3 }] } }, cannot("number", "Container.spec.containers.image", "string")],
    [{ spec: { restartPolicy: true } }, cannot("bool", "PodSpec.spec.restartPolicy", "v1.RestartPolicy")],
    [{ spec: { priority: "high" } }, cannot("string", "PodSpec.spec.priority", "int32")],
    [{ spec: { priority: 1.5 } }, cannot("number 1.5", "PodSpec.spec.priority", "int32")],
    [{ spec: { priority: 2 ** 31 } }, cannot("number 2147483648", "PodSpec.spec.priority", "int32")],
    [
      { spec: { containers: [{ resources: { requests: 3 } }] } },
      cannot("number", "ResourceRequirements.spec.containers.resources.requests", "v1.ResourceList"),
    ],
    [{ metadata: { creationTimestamp: 3 } }, cannot("number", "ObjectMeta.metadata.creationTimestamp", "string")],
    [
      { spec: { containers: [{ resources: { requests: { cpu: "lots" } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])("%j", (object, sentence) => {
    expect(() => read(object as Record<string, unknown>)).toThrow(expect.objectContaining({ message: sentence }));
  });

  test.each([
    ["$$$", 0],
    ["YQ", 0],
    ["YWFhYQ", 4],
  ])("base64 %s fails at byte %i", (text, byte) => {
    const sentence = `illegal base64 data at input byte ${byte}`;
    expect(() => read({ data: { a: text } }, "io.k8s.api.core.v1.Secret")).toThrow(
      expect.objectContaining({ message: sentence }),
    );
  });
});

/** Any value that a shape can hold, absent fields and zero values included. */
function valueOf(shape: Shape, depth: number): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case "scalar":
      return scalarOf(shape.scalar);
    case "list":
      return fc.array(valueOf(shape.items, depth - 1), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("a", "b"), valueOf(shape.values, depth - 1), { maxKeys: 2 });
    case "anything":
      return fc.constant({});
    case "struct": {
      if (depth <= 0) return fc.constant({});
      const fields = [...shape.fields().known].map(([name, field]) => [name, valueOf(field.shape, depth - 1)] as const);
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
    }
  }
}

function scalarOf(scalar: string): fc.Arbitrary<unknown> {
  switch (scalar) {
    case "boolean":
      return fc.boolean();
    case "string":
      return fc.constantFrom("", "x");
    case "bytes":
      return fc.constantFrom("", "YQ==");
    case "quantity":
      return fc.constantFrom("0", "1500m", 2, "1.5Gi", "100u");
    case "int-or-string":
      return fc.constantFrom(0, 5, "10%");
    case "time":
      return fc.constantFrom(null, "2021-03-04T07:06:07+02:00");
    case "micro-time":
      return fc.constantFrom(null, "2021-03-04T05:06:07.123456Z");
    default:
      return fc.constantFrom(0, 1, -1);
  }
}

test.each([podName, nodeName, "io.k8s.api.apps.v1.Deployment", "io.k8s.api.core.v1.Event"])(
  "reading %s twice is reading it once",
  name => {
    fc.assert(
      fc.property(valueOf(structShape(name), 5), value => {
        const once = read(value as Record<string, unknown>, name);
        expect(read(structuredClone(once), name)).toEqual(once);
      }),
      { numRuns: 100 },
    );
  },
);

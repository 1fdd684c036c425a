import { describe, expect, test } from "vitest";
import { Box } from "../../test/sim/box.ts";
import type { Crd } from "./crd.ts";

const crds = { resource: "customresourcedefinitions.apiextensions.k8s.io" };
const foos = { resource: "foos.x.io", namespace: "default" };
const a = { ...foos, name: "a" };

const schema = {
  openAPIV3Schema: {
    type: "object",
    properties: {
      spec: {
        type: "object",
        properties: {
          size: { type: "integer", minimum: 1 },
          colour: { type: "string", default: "red" },
          replicas: { type: "integer" },
        },
        "x-kubernetes-validations": [{ rule: "self.size >= oldSelf.size", message: "size may not shrink" }],
      },
      status: {
        type: "object",
        properties: { replicas: { type: "integer" }, selector: { type: "string" } },
      },
    },
  },
};
const scale = {
  specReplicasPath: ".spec.replicas",
  statusReplicasPath: ".status.replicas",
  labelSelectorPath: ".status.selector",
};
const v1 = { name: "v1", served: true, storage: true, schema, subresources: { status: {}, scale } };

type Changes = { spec?: object; names?: object; version?: object; name?: string; metadata?: object };

function definition({ spec, names, version, name = "foos.x.io", metadata }: Changes = {}) {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name, ...metadata },
    spec: {
      group: "x.io",
      scope: "Namespaced",
      names: { plural: "foos", kind: "Foo", ...names },
      versions: [{ ...v1, ...version }],
      ...spec,
    },
  };
}

const foo = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: "x.io/v1",
  kind: "Foo",
  metadata: { name, ...metadata },
  spec,
});

function served(changes: Changes = {}): Box {
  const box = new Box();
  box.create(crds, definition(changes));
  return box;
}

const conditions = (box: Box, name = "foos.x.io") =>
  Object.fromEntries(
    ((box.get({ ...crds, name }) as Crd).status?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );

describe("a definition", () => {
  test("is served at once and established a moment later", async () => {
    const box = new Box();
    const created = box.create(crds, definition()) as Crd;
    expect(created.status).toEqual({
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: ["v1"],
    });
    expect(created.spec.names).toEqual({ plural: "foos", kind: "Foo", singular: "foo", listKind: "FooList" });
    expect(created.metadata.generation).toBe(1);
    expect(box.create(foos, foo("a", { size: 1 })).spec).toEqual({ size: 1, colour: "red" });
    await box.clock.runFor(1);
    expect(conditions(box)).toEqual({ NamesAccepted: "True NoConflicts", Established: "True InitialNamesAccepted" });
    expect((box.get({ ...crds, name: "foos.x.io" }) as Crd).status?.acceptedNames).toEqual(created.spec.names);
  });

  test("whose names another one of its group has is not served until that one is gone", async () => {
    const box = served({ names: { shortNames: ["f"] } });
    await box.clock.runFor(1);
    box.create(
      crds,
      definition({
        name: "others.x.io",
        names: { plural: "others", singular: "f", kind: "Other", listKind: "OtherList" },
      }),
    );
    await box.clock.runFor(1);
    expect(conditions(box, "others.x.io")).toEqual({
      NamesAccepted: "False SingularConflict",
      Established: "False NotAccepted",
    });
    expect(box.status("list", { resource: "others.x.io" }).code).toBe(404);
    box.send("delete", { ...crds, name: "foos.x.io" });
    await box.clock.runFor(1_000);
    expect(conditions(box, "others.x.io")).toEqual({
      NamesAccepted: "True NoConflicts",
      Established: "True InitialNamesAccepted",
    });
    expect(box.list({ resource: "others.x.io" }).names).toEqual([]);
  });

  test("that changes serves its kind anew", () => {
    const box = served();
    box.create(foos, foo("a", { size: 1 }));
    const properties = { ...schema.openAPIV3Schema.properties, extra: { type: "string", default: "new" } };
    const changed = [{ ...v1, schema: { openAPIV3Schema: { type: "object", properties } } }];
    box.patch({ ...crds, name: "foos.x.io" }, { spec: { versions: changed } });
    expect(box.get({ ...crds, name: "foos.x.io" }).metadata.generation).toBe(2);
    expect(box.patch(a, { metadata: { labels: { x: "y" } } })).toMatchObject({ extra: "new" });
  });

  test("that changes reads its objects anew, and whoever watches them asks again", () => {
    const box = served();
    box.create(foos, foo("a", { size: 1, replicas: 2 }));
    const watched = box.watch(foos);
    const spec = {
      type: "object",
      properties: { size: { type: "integer" }, extra: { type: "string", default: "new" } },
    };
    const changed = [{ ...v1, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } }];
    box.patch({ ...crds, name: "foos.x.io" }, { spec: { versions: changed } });
    expect(watched.ended).toEqual({ error: undefined });
    const { metadata, spec: read } = box.get(a);
    expect(read).toEqual({ size: 1, extra: "new" });
    expect(box.list(foos).items.map(({ object }) => object["spec"])).toEqual([{ size: 1, extra: "new" }]);
    // The same to whoever reads it, but written in another form: once.
    const written = box.patch(a, {});
    expect(written.metadata.generation).toBe(metadata.generation);
    expect(written.metadata.resourceVersion).not.toBe(metadata.resourceVersion);
    expect(box.patch(a, {}).metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  });

  test("of several versions shows in each what that one knows, also when another is stored", () => {
    const box = new Box();
    const version = (name: string, field: string) => {
      const spec = { type: "object", properties: { both: { type: "integer" }, [field]: { type: "string" } } };
      return { name, served: true, schema: { openAPIV3Schema: { type: "object", properties: { spec } } } };
    };
    const versions = [version("v1", "one"), version("v2", "two")];
    const stored = (name: string) => versions.map(each => ({ ...each, storage: each.name === name }));
    box.create(crds, definition({ spec: { versions: stored("v1") } }));
    box.create(foos, foo("a", { both: 1, one: "x" }));
    const second = { ...a, version: "v2" };
    expect(box.get(second)).toMatchObject({ apiVersion: "x.io/v2", spec: { both: 1 } });
    box.patch({ ...crds, name: "foos.x.io" }, { spec: { versions: stored("v2") } });
    expect(box.get(a)).toMatchObject({ apiVersion: "x.io/v1", spec: { both: 1, one: "x" } });
    expect(box.get(second)).toMatchObject({ apiVersion: "x.io/v2", spec: { both: 1 } });
    // Written in the second version, which knows nothing of `one`.
    expect(box.patch(a, { metadata: { labels: { x: "y" } } })["spec"]).toEqual({ both: 1 });
  });

  test("goes when its objects are gone, and nothing is created meanwhile", async () => {
    const box = served();
    box.create(foos, foo("a", { size: 1 }, { finalizers: ["x.io/hold"] }));
    await box.clock.runFor(1);
    const marked = box.object("delete", { ...crds, name: "foos.x.io" });
    expect(marked.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
    expect(box.status("create", foos, { body: foo("b") })).toMatchObject({
      code: 403,
      message: 'foos.x.io "b" is forbidden: create not allowed while custom resource definition is terminating',
    });
    await box.clock.runFor(1_000);
    expect(conditions(box)).toMatchObject({ Terminating: "True InstanceDeletionInProgress" });
    const watched = box.watch(foos);
    box.patch(a, { metadata: { finalizers: null } });
    await box.clock.runFor(1_000);
    expect(box.has({ ...crds, name: "foos.x.io" })).toBe(false);
    expect(box.status("list", foos).code).toBe(404);
    expect(watched.ended).toEqual({ error: undefined });
  });

  test.each<[string, Changes, string, string]>([
    [
      "another name than its plural and group",
      { name: "bars.x.io" },
      "metadata.name",
      'Invalid value: "bars.x.io": must be spec.names.plural+"."+spec.group',
    ],
    [
      "no versions",
      { spec: { versions: [] } },
      "spec.versions",
      "Invalid value: []: must have exactly one version marked as storage version",
    ],
    [
      "a webhook that nobody is to call",
      { spec: { conversion: { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } } } },
      "spec.conversion.conversionReviewVersions",
      "Forbidden: should not be set when strategy is not set to Webhook",
    ],
    ["no scope", { spec: { scope: "" } }, "spec.scope", "Required value"],
    [
      "an unknown scope",
      { spec: { scope: "Galaxy" } },
      "spec.scope",
      'Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"',
    ],
    [
      "a group without a dot",
      { name: "foos.x", spec: { group: "x" } },
      "spec.group",
      'Invalid value: "x": should be a domain with at least one dot',
    ],
    [
      "a protected group",
      { name: "foos.x.k8s.io", spec: { group: "x.k8s.io" } },
      "metadata.annotations[api-approved.kubernetes.io]",
      'Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
    ],
    [
      "the list's kind for its own",
      { names: { listKind: "Foo" } },
      "spec.names.listKind",
      'Invalid value: "Foo": kind and listKind may not be the same',
    ],
    [
      "no version to store",
      { version: { storage: false } },
      "spec.versions",
      "must have exactly one version marked as storage version",
    ],
    ["no schema", { version: { schema: undefined } }, "spec.versions[0].schema.openAPIV3Schema", "Required value"],
    [
      "unknown fields kept by the old switch",
      { spec: { preserveUnknownFields: true } },
      "spec.preserveUnknownFields",
      "Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
    [
      "a column of an unknown type",
      { version: { additionalPrinterColumns: [{ name: "X", type: "float", jsonPath: ".x" }] } },
      "spec.additionalPrinterColumns[0].type",
      'Invalid value: "float": must be one of boolean,date,integer,number,string',
    ],
    [
      "a scale outside of spec",
      { version: { subresources: { scale: { ...scale, specReplicasPath: ".replicas" } } } },
      "spec.subresources.scale.specReplicasPath",
      'Invalid value: ".replicas": should be a json path under .spec',
    ],
    [
      "a selectable field that is none",
      { version: { selectableFields: [{ jsonPath: ".spec.nope" }] } },
      "spec.selectableFields[0].jsonPath",
      "is an invalid path",
    ],
    [
      "a conversion webhook",
      { spec: { conversion: { strategy: "Webhook" } } },
      "spec.conversion.strategy",
      "conversion webhooks are not served by the embedded API; use None",
    ],
    [
      "a deprecation of what is not deprecated",
      { version: { deprecationWarning: "old" } },
      "spec.versions[0].deprecationWarning",
      "can only be set for deprecated versions",
    ],
  ])("with %s is refused", (_, changes, field, message) => {
    const status = new Box().status("create", crds, { body: definition(changes) });
    expect(status.code).toBe(422);
    expect(status.details?.causes).toContainEqual(
      expect.objectContaining({ field, message: expect.stringContaining(message) }),
    );
  });

  test("cannot become another kind, nor drop a version in which objects may be stored", async () => {
    const box = served();
    await box.clock.runFor(1);
    const refused = (spec: object) => {
      const answer = box.status("patch", { ...crds, name: "foos.x.io" }, { patchType: "merge", body: { spec } });
      return [answer.code, ...(answer.details?.causes ?? []).map(({ field }) => field)];
    };
    expect(refused({ scope: "Cluster" })).toEqual([422, "spec.scope"]);
    expect(refused({ names: { kind: "Bar" } })).toEqual([422, "spec.names.kind"]);
    expect(refused({ versions: [{ ...v1, name: "v2" }] })).toEqual([422, "status.storedVersions[0]"]);
  });
});

describe("custom objects", () => {
  test("are pruned, defaulted, validated and counted", () => {
    const box = served();
    const answer = box.send("create", foos, { body: { ...foo("a", { size: 2, junk: 1 }), status: { replicas: 3 } } });
    expect(answer).toMatchObject({ code: 201, warnings: ['unknown field "spec.junk"'] });
    const object = box.get(a);
    expect(object).toMatchObject({ spec: { size: 2, colour: "red" }, metadata: { generation: 1 } });
    expect(object).not.toHaveProperty("status");
    expect(box.status("create", foos, { body: foo("b", { size: 0 }) })).toMatchObject({
      code: 422,
      details: { name: "b", group: "x.io", kind: "Foo", causes: [{ field: "spec.size" }] },
    });
    expect(box.patch(a, { metadata: { labels: { x: "y" } } }).metadata.generation).toBe(1);
    expect(box.patch(a, { spec: { size: 3 } }).metadata.generation).toBe(2);
  });

  test("obey transition rules", () => {
    const box = served();
    box.create(foos, foo("a", { size: 2 }));
    expect(box.status("patch", a, { patchType: "merge", body: { spec: { size: 1 } } })).toMatchObject({
      code: 422,
      message: expect.stringContaining("size may not shrink"),
    });
  });

  test("must say what they are, and be updated with a version", () => {
    const box = served();
    box.create(foos, foo("a", { size: 1 }));
    expect(box.status("create", foos, { body: { metadata: { name: "b" } } }).message).toContain(
      "Object 'Kind' is missing",
    );
    expect(box.status("create", foos, { body: { ...foo("b"), kind: "Bar" } })).toMatchObject({
      code: 422,
      message: 'Bar.x.io "b" is invalid: kind: Invalid value: "Bar": must be Foo',
    });
    expect(box.status("create", foos, { body: { ...foo("b"), apiVersion: "x.io/v9" } })).toMatchObject({
      code: 400,
      message: "the API version in the data (x.io/v9) does not match the expected API version (x.io/v1)",
    });
    expect(box.status("update", a, { body: foo("a") })).toMatchObject({ code: 422, details: { kind: "foos" } });
    expect(box.status("patch", a, { patchType: "strategic", body: {} })).toMatchObject({
      code: 415,
      reason: "UnsupportedMediaType",
    });
  });

  test("warn of finalizers without a domain", () => {
    const box = served();
    const answer = box.send("create", foos, { body: foo("a", { size: 1 }, { finalizers: ["mine"] }) });
    expect(answer).toMatchObject({
      warnings: [
        'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      ],
    });
  });

  test("have a status of their own, which carries nothing else", () => {
    const box = served();
    box.create(foos, foo("a", { size: 1 }));
    const body = { metadata: { labels: { x: "y" } }, spec: { size: 9 }, status: { replicas: 2 } };
    const written = box.object("patch", { ...a, subresource: "status" }, { patchType: "merge", body });
    expect(written).toMatchObject({ spec: { size: 1 }, status: { replicas: 2 }, metadata: { generation: 1 } });
    expect(written.metadata).not.toHaveProperty("labels");
    expect(box.patch(a, { status: { replicas: 7 } })).toMatchObject({ status: { replicas: 2 } });
  });

  test("can be scaled through their numbers", () => {
    const box = served();
    box.create(foos, foo("a", { size: 1, replicas: 2 }));
    box.object(
      "patch",
      { ...a, subresource: "status" },
      { patchType: "merge", body: { status: { replicas: 1, selector: "app=a" } } },
    );
    const at = { ...a, subresource: "scale" };
    expect(box.get(at)).toMatchObject({
      kind: "Scale",
      apiVersion: "autoscaling/v1",
      spec: { replicas: 2 },
      status: { replicas: 1, selector: "app=a" },
    });
    expect(box.patch(at, { spec: { replicas: 5 } }).spec).toEqual({ replicas: 5 });
    expect(box.get(a)).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } });
    const { metadata } = box.get(at);
    const put = (spec: object, more = metadata) =>
      box.send("update", at, { body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: more, spec } });
    expect(put({ replicas: 6 })).toMatchObject({ code: 200 });
    expect(put({ replicas: 7 })).toMatchObject({ code: 409 });
    expect(put({ replicas: -1 }, box.get(at).metadata)).toMatchObject({
      code: 422,
      status: {
        message: 'Foo.x.io "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer',
      },
    });
  });

  test("are one object in every served version, and none in one that is only stored", () => {
    const v2 = {
      ...v1,
      name: "v2",
      storage: false,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      subresources: {},
    };
    const old = { ...v1, name: "v0", served: false, storage: false };
    const box = served({ spec: { versions: [v1, v2, old] } });
    box.create(foos, foo("a", { size: 1 }));
    const other = { resource: "foos.v2.x.io", namespace: "default" };
    expect(box.get({ ...other, name: "a" })).toMatchObject({ apiVersion: "x.io/v2", spec: { size: 1 } });
    const watched = box.watch(other, { resourceVersion: String(box.server.store.revision) });
    box.patch(a, { spec: { size: 2 } });
    expect(watched.events[0]?.stored.object).toMatchObject({ apiVersion: "x.io/v2", spec: { size: 2 } });
    box.create(other, { apiVersion: "x.io/v2", kind: "Foo", metadata: { name: "b" }, spec: { size: 4 } });
    expect(box.get({ ...foos, name: "b" }).apiVersion).toBe("x.io/v1");
    expect(box.status("list", { resource: "foos.v0.x.io" }).code).toBe(404);
    expect(box.status("get", { ...other, name: "a", subresource: "status" }).code).toBe(404);
  });

  test("can be selected by the fields that the definition names", () => {
    const box = served({ version: { selectableFields: [{ jsonPath: ".spec.colour" }] } });
    box.create(foos, foo("a", { size: 1 }));
    box.create(foos, foo("b", { size: 1, colour: "blue" }));
    expect(box.list(foos, { fieldSelector: "spec.colour=blue" }).names).toEqual(["b"]);
    expect(box.status("list", foos, { options: { fieldSelector: "spec.size=1" } }).message).toBe(
      "field label not supported: spec.size",
    );
  });
});

test("the scale of the server's own workloads is their number of replicas", () => {
  const box = new Box();
  const deployments = { resource: "deployments.apps", namespace: "default" };
  const template = {
    metadata: { labels: { app: "web", tier: "x" } },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  box.create(deployments, {
    metadata: { name: "d" },
    spec: { replicas: 2, selector: { matchLabels: { tier: "x", app: "web" } }, template },
  });
  const at = { ...deployments, name: "d", subresource: "scale" };
  expect(box.get(at)).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 0, selector: "app=web,tier=x" } });
  expect(box.object("patch", at, { patchType: "strategic", body: { spec: { replicas: 3 } } }).spec).toEqual({
    replicas: 3,
  });
  expect(box.status("patch", at, { patchType: "merge", body: { spec: { replicas: -3 } } })).toMatchObject({
    code: 422,
    message: 'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -3: must be greater than or equal to 0',
  });
  expect(box.status("get", { ...deployments, name: "d", subresource: "nope" }).code).toBe(404);
});

describe("formats that nothing checks", () => {
  const withFormats = (properties: object) => {
    const root = { type: "object", properties: { spec: { type: "object", properties } } };
    return definition({ version: { schema: { openAPIV3Schema: root } } });
  };
  const warningsOf = (properties: object) => {
    const answer = new Box().send("create", crds, { body: withFormats(properties) });
    return answer.kind === "object" ? answer.warnings : answer;
  };

  test.each([
    ["string", "bogus", true],
    ["string", "UUID", true],
    ["string", "int32", true],
    ["string", "date-time", false],
    ["string", "k8s-short-name", false],
    ["integer", "int64", false],
    ["integer", "double", true],
    ["number", "double", false],
    ["boolean", "date", true],
  ])("%s with %s: warned of is %s", (type, format, isWarned) => {
    expect(warningsOf({ a: { type, format } })).toEqual(isWarned ? [`unrecognized format "${format}"`] : []);
  });

  test("are named once, wherever they stand", () => {
    const odd = { type: "string", format: "odd" };
    const found = warningsOf({
      a: { type: "array", items: odd },
      b: { type: "object", additionalProperties: odd },
      c: { type: "string", anyOf: [{ format: "odd" }, { not: { format: "rare" } }] },
    });
    expect(found).toEqual(['unrecognized format "odd"', 'unrecognized format "rare"']);
  });

  test("are not named again by an update that leaves them", () => {
    const box = new Box();
    box.create(crds, withFormats({ a: { type: "string", format: "odd" } }));
    const { spec } = withFormats({ a: { type: "string", format: "odd" }, b: { type: "string", format: "new" } });
    const answer = box.send("patch", { ...crds, name: "foos.x.io" }, { patchType: "merge", body: { spec } });
    expect(answer).toMatchObject({ code: 200, warnings: ['unrecognized format "new"'] });
  });
});

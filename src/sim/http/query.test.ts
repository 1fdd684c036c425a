import { describe, expect, test } from "vitest";
import type { ApiError } from "../../api/status.ts";
import type { Verb } from "../request.ts";
import { isWatch, requestOptions } from "./query.ts";

const parse = (query: string, verb: Verb = "list") => requestOptions(new URLSearchParams(query), verb);
const refusalOf = (query: string, verb: Verb): ApiError["status"] => {
  try {
    parse(query, verb);
  } catch (error) {
    return (error as ApiError).status;
  }
  throw new Error(`${query} was accepted`);
};

test("every parameter that the store knows is read, and others are ignored", () => {
  const query =
    "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=500&continue=tok&resourceVersion=7&foo=bar" +
    "&resourceVersionMatch=Exact&timeoutSeconds=30&allowWatchBookmarks=true&sendInitialEvents=1&fieldManager=kubectl";
  expect(parse(query)).toEqual({
    labelSelector: "a=b",
    fieldSelector: "metadata.name=x",
    limit: 500,
    continue: "tok",
    resourceVersion: "7",
    resourceVersionMatch: "Exact",
    timeoutSeconds: 30,
    allowWatchBookmarks: true,
    sendInitialEvents: true,
    fieldManager: "kubectl",
  });
  expect(parse("gracePeriodSeconds=0&propagationPolicy=Orphan&orphanDependents=false", "delete")).toEqual({
    gracePeriodSeconds: 0,
    propagationPolicy: "Orphan",
    orphanDependents: false,
  });
});

test("of a repeated parameter the first counts, and __proto__ is a name like any other", () => {
  expect(parse("limit=1&limit=2&__proto__=x")).toEqual({ limit: 1 });
});

test.each([
  ["watch=true", true],
  ["watch=1", true],
  ["watch", true],
  ["watch=maybe", true],
  ["watch=0", false],
  ["watch=False", false],
  ["", false],
])("?%s asks for a watch: %s", (query, watch) => {
  expect(isWatch(new URLSearchParams(query))).toBe(watch);
});

describe("a value that cannot be read is refused as the server refuses it", () => {
  test.each(["limit=x", "timeoutSeconds=1.5", "gracePeriodSeconds="])("%s", query => {
    const value = query.split("=")[1];
    expect(refusalOf(query, "list")).toMatchObject({
      code: 400,
      reason: "BadRequest",
      message: `strconv.ParseInt: parsing "${value}": invalid syntax`,
    });
  });

  test.each<[string, Verb, string, string]>([
    ["dryRun=Some", "create", "CreateOptions", `dryRun: Unsupported value: ["Some"]: supported values: "All"`],
    [
      "dryRun=All&dryRun=x",
      "delete",
      "DeleteOptions",
      `dryRun: Unsupported value: ["All","x"]: supported values: "All"`,
    ],
    [
      "fieldValidation=Foo",
      "patch",
      "PatchOptions",
      `fieldValidation: Unsupported value: "Foo": supported values: "", "Ignore", "Strict", "Warn"`,
    ],
  ])("%s on %s", (query, verb, kind, why) => {
    expect(refusalOf(query, verb)).toMatchObject({
      code: 422,
      reason: "Invalid",
      message: `${kind}.meta.k8s.io "" is invalid: ${why}`,
      details: { group: "meta.k8s.io", kind, causes: [{ reason: "FieldValueNotSupported", field: why.split(":")[0] }] },
    });
  });
});

test("dry run and field validation are read for the verbs that have them", () => {
  expect(parse("dryRun=All&fieldValidation=Strict", "update")).toEqual({ dryRun: true, fieldValidation: "Strict" });
  expect(parse("fieldValidation=Strict", "get")).toEqual({});
});

import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { kinds } from "../api/kinds.ts";
import { crdsCommand } from "./crds.ts";
import { Failure, type Io } from "./io.ts";

function crds(...args: string[]): string {
  let printed = "";
  const io = { out: (text: string) => (printed += text), err: () => {} } as unknown as Io;
  crdsCommand(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parse(args, { from: "user" });
  return printed;
}

const namesIn = (yaml: string) => parseAllDocuments(yaml).map(document => document.getIn(["metadata", "name"]));

test("prints every CRD as a stream of YAML documents", () => {
  expect(namesIn(crds())).toEqual(kinds.map(({ resource }) => `${resource.plural}.${resource.group}`));
});

test("prints a list with -o json, which kubectl takes as well", () => {
  const list = JSON.parse(crds("-o", "json")) as { kind: string; items: unknown[] };
  expect(list).toMatchObject({ apiVersion: "v1", kind: "List" });
  expect(list.items).toHaveLength(kinds.length);
});

test.each(["NodeHealthCheck", "nodehealthchecks", "nhc", "nodehealthchecks.remediation.medik8s.io"])(
  "%s names a kind, once however often it is named",
  name => {
    expect(namesIn(crds(name, "nhc"))).toEqual(["nodehealthchecks.remediation.medik8s.io"]);
  },
);

test("an unknown name is refused, with the one that was probably meant", () => {
  const refusal = new Failure('there is no kind "nodepol"; did you mean nodepool?', { exitCode: 2 });
  expect(() => crds("nodepol")).toThrow(refusal);
  expect(() => crds("zzzzzzzzzzzz")).toThrow(/there are nodepools, nodeclaims, /);
});

test("a format that does not exist is refused", () => {
  expect(() => crds("-o", "xml")).toThrow(/Allowed choices are yaml, json/);
});

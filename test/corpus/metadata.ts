// What every object has: its name, labels, annotations, owners and finalizers. The server knows the rules without
// being told by a schema.

import { at, bad, good, type Table } from "./entry.ts";
import { absent } from "./field.ts";
import { least } from "./manifests.ts";

const claim = least.nodeClaim();
const owner = { apiVersion: "karpenter.sh/v1", kind: "NodePool", name: "default", uid: "7a11" };

const names: Table = {
  title: "names",
  entries: [
    ...at(claim, "metadata.name", [
      good("with dots and digits", "pool-a.example.com"),
      good("of 253 characters", "a".repeat(253)),
      bad("of 254 characters", "a".repeat(254)),
      bad("with a capital", "Pool"),
      bad("with an underscore", "my_pool"),
      bad("with a dash in front", "-pool"),
      bad("with a dot at the end", "pool."),
      bad("with two dots", "pool..a"),
      bad("with a slash", "pool/a"),
      bad("empty", ""),
      bad("left out", absent),
    ]),
    ...at(claim, "metadata", [
      good("a prefix to make the name from", { generateName: "pool-" }),
      bad("a prefix that begins wrong", { generateName: "-pool" }, "generateName", "name"),
      bad("nothing at all", {}, "name"),
      good("a namespace, which the kind has not and nobody looks at", { name: "a", namespace: "default" }),
    ]),
    ...at(claim, "metadata", [
      bad("a number for a name", { name: 5 }),
      bad("a boolean for a label", { name: "a", labels: { team: true } }),
      bad("a word for labels", { name: "a", labels: "team" }),
      bad("a word for a time", { name: "a", creationTimestamp: "yesterday" }),
      good("null for what is optional", { name: "a", labels: null, annotations: null, creationTimestamp: null }),
    ]),
    ...at(claim, "metadata", [bad("left out", absent, "name")]),
  ],
};

const labels: Table = {
  title: "labels, annotations, owners and finalizers",
  entries: [
    ...at(claim, "metadata.labels", [
      good("with and without a domain", { team: "a", "example.com/team": "" }),
      good("a name of 63 characters", { ["a".repeat(63)]: "a" }),
      bad("a name of 64 characters", { ["a".repeat(64)]: "a" }),
      good("a value of 63 characters", { team: "a".repeat(63) }),
      bad("a value of 64 characters", { team: "a".repeat(64) }),
      bad("a value with a space", { team: "a b" }),
      bad("a key with two slashes", { "a/b/c": "d" }),
      bad("an empty key", { "": "a" }),
    ]),
    ...at(claim, "metadata.annotations", [
      good("any text", { note: "several words, and a line\nbreak" }),
      good("a domain with capitals", { "Example.com/note": "a" }),
      good("256 KiB in all", { note: "a".repeat(256 * 1024 - 4) }),
      bad("a byte more", { note: "a".repeat(256 * 1024 - 3) }),
      bad("a key with a space", { "my note": "a" }),
    ]),
    ...at(claim, "metadata.ownerReferences", [
      good("a pool", [{ ...owner, controller: true, blockOwnerDeletion: true }]),
      bad("without a uid", [{ ...owner, uid: "" }], "uid"),
      bad("without a kind", [{ ...owner, kind: "" }], "kind"),
      bad("without a name", [{ ...owner, name: "" }], "name"),
      bad("without a version", [{ ...owner, apiVersion: "" }], "apiVersion"),
      bad("two controllers", [
        { ...owner, controller: true },
        { ...owner, name: "other", uid: "7a12", controller: true },
      ]),
      bad("an event as owner", [{ ...owner, apiVersion: "v1", kind: "Event" }]),
    ]),
    ...at(claim, "metadata.finalizers", [
      good("of Karpenter", ["karpenter.sh/termination"]),
      good("of Kubernetes", ["foregroundDeletion"]),
      bad("without a domain", ["my finalizer"]),
      bad("orphan and foreground at once", ["orphan", "foregroundDeletion"]),
    ]),
  ],
};

/** Kinds and versions that no server has, by the field that says so. kubectl finds out before it sends anything. */
export const unknownKinds: readonly { title: string; manifest: object; at: string }[] = [
  { title: "a version that is gone", manifest: { ...claim, apiVersion: "karpenter.sh/v1alpha5" }, at: "apiVersion" },
  { title: "a version of another group", manifest: { ...claim, apiVersion: "fettle.dev/v1" }, at: "kind" },
  { title: "a kind that is gone", manifest: { ...claim, kind: "Provisioner" }, at: "kind" },
  { title: "a kind in small letters", manifest: { ...claim, kind: "nodeclaim" }, at: "kind" },
  { title: "no kind", manifest: { ...claim, kind: undefined }, at: "kind" },
  { title: "no apiVersion", manifest: { ...claim, apiVersion: "" }, at: "apiVersion" },
];

export const metadata: readonly Table[] = [names, labels];

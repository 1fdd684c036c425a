// Our own remediators and their templates.

import type { Manifest } from "../../src/api/meta.ts";
import { at, bad, type Entry, good, needed, type Table } from "./entry.ts";
import { absent } from "./field.ts";
import { least, whole } from "./manifests.ts";
import { conditions } from "./shapes.ts";
import * as words from "./words.ts";

const replacing = (base: Manifest, path: string): Entry[] => [
  ...at(base, path, [good("left out", absent), good("empty", {}), bad("a word", "Graceful")]),
  ...at(base, `${path}.termination`, words.oneOf("Forceful", "Graceful")),
];

const rebooting = (base: Manifest, path: string): Entry[] => [
  ...at(base, path, [good("left out", absent), good("empty", {})]),
  ...at(base, `${path}.timeout`, words.duration),
  ...at(base, `${path}.attempts`, words.whole({ min: 1, max: 10, format: "int32" })),
];

const course = (base: Manifest): Entry[] => [
  ...at(base, "status.observedGeneration", words.whole({ min: 0 })),
  ...at(base, "status.nodeUID", words.uid),
  ...at(base, "status.nodeAction", words.text()),
  ...at(base, "status.conditions", conditions),
];

const template = (base: Manifest): Entry[] => [
  ...at(base, "spec", [bad("left out", absent)]),
  ...at(base, "spec.template", [...needed, good("empty", {})]),
];

const reboots = whole("reboot-remediation");

export const remediation: readonly Table[] = [
  {
    title: "replacements",
    entries: [...replacing(least.replaceRemediation(), "spec"), ...course(whole("replace-remediation"))],
  },
  {
    title: "templates of replacements",
    entries: [
      ...template(least.replaceRemediationTemplate()),
      ...replacing(least.replaceRemediationTemplate(), "spec.template.spec"),
    ],
  },
  {
    title: "reboots",
    entries: [
      ...rebooting(least.rebootRemediation(), "spec"),
      ...course(reboots),
      ...at(reboots, "status.bootID", words.text({ max: 128 })),
      ...at(reboots, "status.attempts", words.whole({ min: 0 })),
      ...at(reboots, "status.lastRebootTime", words.time),
    ],
  },
  {
    title: "templates of reboots",
    entries: [
      ...template(least.rebootRemediationTemplate()),
      ...rebooting(least.rebootRemediationTemplate(), "spec.template.spec"),
    ],
  },
];

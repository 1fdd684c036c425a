// What holds everything back, and how much of each cap is used.

import { capLimits, type Limit } from "../decide/caps.ts";
import { precedence } from "../decide/precedence.ts";
import type { Asked, Of } from "./measured.ts";
import type { Family, Sample } from "./family.ts";

export function safetyFamilies(of: Of): Family[] {
  const labels = ["cap", "zone"];
  return [
    {
      name: "fettle_cap_allowed",
      help: "How many nodes may be going away, or have gone within the window, by each cap in force.",
      type: "gauge",
      labels,
      samples: of(asked => limits(asked, ({ allowed }) => allowed)),
    },
    {
      name: "fettle_cap_used",
      help: "How many a cap counts now.",
      type: "gauge",
      labels,
      samples: of(asked => limits(asked, ({ counted }) => counted)),
    },
    {
      name: "fettle_dry_run",
      help: "1 where everything is only shown, by whose word: the flag, the SafetyPolicy, or a rival that is alive.",
      type: "gauge",
      labels: ["cause"],
      samples: of(({ settings, picture }) => [
        { labels: { cause: "flag" }, value: Number(settings.dryRun) },
        { labels: { cause: "safety-policy" }, value: Number(picture.safety.policy.dryRun) },
        { labels: { cause: "rival" }, value: Number(picture.rival !== undefined) },
      ]),
    },
    {
      name: "fettle_frozen",
      help: "1 while the SafetyPolicy freezes everything, or cannot be understood.",
      type: "gauge",
      samples: of(({ picture: { safety } }) => [
        { value: Number(safety.invalid !== undefined || safety.policy.freeze !== undefined) },
      ]),
    },
  ];
}

function limits({ picture, now, settings, epoch = 0 }: Asked, read: (limit: Limit) => number): Sample[] {
  const asked = { actions: new Set(precedence), zones: new Set(picture.zones()) };
  return capLimits(asked, { picture, now, settings, epoch }).map(limit => ({
    labels: { cap: limit.place.path?.replace(/^spec\.caps\./, "") ?? "", zone: limit.zone ?? "" },
    value: read(limit),
  }));
}

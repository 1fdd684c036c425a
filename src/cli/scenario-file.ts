// Reads a scenario from the text of a file and says what is wrong with it and in which line.

import { checkManifest } from "../api/check.ts";
import { checkScenario, type Scenario } from "../sim/simulation/scenario.ts";
import { parseManifests } from "./manifest-text.ts";

export type ScenarioFile =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly string[] };

/** One document a file; problems read `FILE:LINE: sentence`. */
export function parseScenario(file: string, bytes: Uint8Array): ScenarioFile {
  const [object, ...others] = parseManifests(file, bytes);
  if (object === undefined) return { ok: false, problems: [`${file}: is empty; docs/scenarios.md shows a scenario`] };
  if (others.length > 0) return { ok: false, problems: [`${file}: holds several documents; write one a file`] };
  if ("problem" in object) return { ok: false, problems: [`${file}:${object.at.line}: ${object.problem}`] };
  const checked = checkScenario(object.value);
  const findings = checked.ok ? refusedManifests(checked.scenario) : checked.findings;
  if (checked.ok && findings.length === 0) return checked;
  const problems = findings.map(({ path, message }) => {
    const { line } = object.positionOf(path);
    return `${file}:${line}: ${path === "" ? "" : `${path}: `}${message}`;
  });
  return { ok: false, problems };
}

/** What an API server would say of manifests of our kinds. Those of others it judges when they are applied. */
function refusedManifests({ cluster = {}, workloads = [], timeline = [] }: Scenario) {
  const written: [string, unknown][] = [
    ...(cluster.manifests ?? []).map((manifest, index): [string, unknown] => [`cluster.manifests[${index}]`, manifest]),
    ...workloads.map((manifest, index): [string, unknown] => [`workloads[${index}]`, manifest]),
    ...timeline.map(({ do: act }, index): [string, unknown] => [`timeline[${index}].do.apply`, act.apply]),
  ];
  return written.flatMap(([place, manifest]) => {
    if (manifest === undefined) return [];
    const refused = checkManifest(manifest).findings.filter(
      ({ severity, offline }) => severity === "error" && !offline,
    );
    return refused.map(({ path, message }) => ({ path: path === "" ? place : `${place}.${path}`, message }));
  });
}

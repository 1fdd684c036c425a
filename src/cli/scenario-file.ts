// Reads a scenario from the text of a file and says what is wrong with it and in which line.

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
  if (checked.ok) return checked;
  const problems = checked.findings.map(({ path, message }) => {
    const { line } = object.positionOf(path);
    return `${file}:${line}: ${path === "" ? "" : `${path}: `}${message}`;
  });
  return { ok: false, problems };
}

// fettle validate: what an API server would say of these manifests, and what only Fettle can know, without a cluster.

import { Command, Option } from "commander";
import pc from "picocolors";
import { type CheckedManifest, checkManifest, type Finding } from "../api/check.ts";
import { Failure, type Io } from "./io.ts";
import type { ManifestObject, Position } from "./manifest-text.ts";
import { readManifests, standardInput } from "./manifests.ts";

type Options = { recursive: boolean; output: "text" | "json" };
type PlacedFinding = Finding & Position & { file: string; object?: string };

export function validateCommand(io: Io): Command {
  return new Command("validate")
    .description("check manifests of Fettle's kinds without a cluster")
    .argument("<path...>", "files, folders, or - for standard input")
    .option("-R, --recursive", "look into the folders of a folder, too", false)
    .addOption(new Option("-o, --output <format>", "how to print findings").choices(["text", "json"]).default("text"))
    .addHelpText("after", help)
    .action(async (paths: string[], options: Options) => validate(paths, options, io));
}

const help = `
Each finding is one line: FILE:LINE:COLUMN PATH: MESSAGE. Those marked (offline) are known to Fettle alone: an API
server would take the manifest, and the controller would hold back. Warnings do not fail. Objects of other kinds are
not judged. Exit code: 0 no error, 1 at least one error, 2 wrong usage.

Examples:
  fettle validate pool.yaml
  fettle validate -R manifests/
  kubectl get nodepools -o yaml | fettle validate -o json -`;

async function validate(paths: readonly string[], options: Options, io: Io): Promise<void> {
  const objects = await readManifests(paths, options.recursive, io);
  if (objects.length === 0) objects.push(...paths.map(nothingIn));
  const counts = { checked: 0, other: 0 };
  const findings: PlacedFinding[] = [];
  for (const object of objects) {
    const judged = judge(object);
    if (judged.ours) counts.checked++;
    else counts.other++;
    findings.push(...judged.findings);
  }
  io.out(options.output === "json" ? `${JSON.stringify(findings, undefined, 2)}\n` : findings.map(line(io)).join(""));
  if (options.output === "text") io.err(`${summary(counts, findings)}\n`);
  if (findings.some(({ severity }) => severity === "error")) throw new Failure("");
}

function nothingIn(path: string): ManifestObject {
  return { file: path === "-" ? standardInput : path, problem: "there is no object in it", at: { line: 1, column: 1 } };
}

function judge(object: ManifestObject): { ours: boolean; findings: PlacedFinding[] } {
  const { file } = object;
  if ("problem" in object) {
    const unreadable = { severity: "error", path: "", message: object.problem, offline: false } as const;
    return { ours: true, findings: [{ file, ...object.at, ...unreadable }] };
  }
  const checked = checkManifest(object.value);
  const name = nameOf(checked);
  return {
    ours: checked.ours,
    findings: checked.findings.map(finding => ({
      file,
      ...object.positionOf(finding.path),
      ...(name === undefined ? {} : { object: name }),
      ...finding,
    })),
  };
}

function nameOf({ kind, name }: CheckedManifest): string | undefined {
  return kind === undefined ? undefined : `${kind}/${name ?? ""}`;
}

const line =
  ({ colour }: Io) =>
  ({ file, line, column, path, severity, offline, message }: PlacedFinding): string => {
    const { bold, red, yellow } = pc.createColors(colour);
    const place = path === "" ? "" : `${path}: `;
    const said = severity === "error" ? red(message) : `${yellow("warning:")} ${message}`;
    return `${bold(`${file}:${line}:${column}`)} ${place}${said}${offline ? " (offline)" : ""}\n`;
  };

function summary({ checked, other }: { checked: number; other: number }, findings: readonly Finding[]): string {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const parts = [`${checked} checked`, `${errors} ${errors === 1 ? "error" : "errors"}`];
  const warnings = findings.length - errors;
  if (warnings > 0) parts.push(`${warnings} ${warnings === 1 ? "warning" : "warnings"}`);
  if (other > 0) parts.push(`${other} of other kinds not judged`);
  return parts.join(", ");
}

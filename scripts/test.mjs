// Runs the checks and suites, says what each took, and ends with the plain count of all. One after another, but for the
// suites that wait for servers and leases more than they work: those run side by side.
//   node scripts/test.mjs           everything (npm test)
//   node scripts/test.mjs --fast    the checks and the unit tests (npm run check)
import { spawn as start, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const fast = process.argv.includes("--fast");
const scratch = mkdtempSync(join(tmpdir(), "fettle-test-"));

/** A check either holds or not: it counts as one test. */
const check = (name, command, ...args) => ({ name, run: () => counted(spawn(command, args) === 0) });

/** An architecture check that saw no modules has checked nothing, and fails. */
const imports = {
  name: "imports",
  run: () => {
    const { stdout, status } = spawnSync(
      "depcruise",
      ["--config", ".dependency-cruiser.mjs", "-T", "json", "src", "test"],
      { encoding: "utf8", maxBuffer: 1 << 28 },
    );
    if (!stdout.startsWith("{")) {
      console.log(`dependency-cruiser could not run (exit ${status})`);
      return counted(false);
    }
    const { summary } = JSON.parse(stdout);
    for (const { rule, from, to, comment } of summary.violations) {
      console.log(`${rule.name}: ${from} → ${to}${comment ? ` (${comment})` : ""}`);
    }
    console.log(`${summary.totalCruised} modules, ${summary.violations.length} violations`);
    return counted(summary.totalCruised > 0 && summary.violations.length === 0);
  },
};

const suite = name => ({
  name,
  run: () => tally(reportOf(name), spawn("vitest", suiteArgs(name))),
});

const reportOf = name => join(scratch, `${name}.json`);
const suiteArgs = name => [
  "run",
  "--project",
  name,
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${reportOf(name)}`,
];

/** Begun with the first step that asks for it; what it prints is kept until its own turn to be told. */
function sideBySide(...names) {
  let running;
  const begin = () => new Map(names.map(name => [name, spawnKept("vitest", suiteArgs(name))]));
  return names.map(name => ({
    name,
    run: async () => {
      running ??= begin();
      const { code, output } = await running.get(name);
      process.stdout.write(output);
      return tally(reportOf(name), code);
    },
  }));
}

const steps = [
  check("format", "biome", "format", "."),
  check("lint", "oxlint", "--type-aware", "--deny-warnings"),
  check("types", "tsc", "-p", "."),
  imports,
  check("dead code", "knip"),
  suite("unit"),
  ...(fast ? [] : [suite("property"), ...sideBySide("contract", "control-plane")]),
];

function counted(ok) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

function spawn(command, args) {
  return spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] }).status ?? 1;
}

function spawnKept(command, args) {
  const child = start(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", chunk => chunks.push(chunk));
  return new Promise(resolve => {
    child.on("error", error => resolve({ code: 1, output: `${command}: ${error.message}\n` }));
    child.on("close", code => resolve({ code: code ?? 1, output: Buffer.concat(chunks) }));
  });
}

function tally(report, code) {
  let found = { passed: 0, failed: 0, skipped: 0 };
  try {
    const json = JSON.parse(readFileSync(report, "utf8"));
    noteFailures(json);
    found = {
      passed: json.numPassedTests,
      failed: json.numFailedTests,
      skipped: json.numPendingTests + json.numTodoTests,
    };
  } catch (error) {
    console.log(`no report of this suite: ${error.message}`);
  }
  // A file that does not load, an unhandled rejection or an empty suite has no failed test of its own, yet has failed.
  const silent = found.failed === 0 && (code !== 0 || found.passed + found.skipped === 0);
  return silent ? { ...found, failed: 1 } : found;
}

/** Told again at the very end: a log that is cut keeps its tail. */
function noteFailures({ testResults }) {
  for (const { name, message, assertionResults } of testResults) {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    for (const { fullName, failureMessages } of failed)
      failures.push([`${file}: ${fullName}`, failureMessages.join("\n")]);
    if (failed.length === 0 && message) failures.push([file, message]);
  }
}

const seconds = since => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const rows = [];
const startedAt = performance.now();
for (const step of steps) {
  console.log(`\n── ${step.name}`);
  const since = performance.now();
  const result = await step.run();
  for (const key of Object.keys(total)) total[key] += result[key];
  rows.push([step.name, seconds(since), result]);
}
rmSync(scratch, { recursive: true, force: true });

const line = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
for (const [name, message] of failures) console.log(`\n✗ ${name}\n${message.split("\n").slice(0, 40).join("\n")}`);
console.log(`\n── all, in ${seconds(startedAt)}`);
for (const [name, took, result] of rows) console.log(`${name.padEnd(16)}${took.padStart(10)}   ${line(result)}`);
console.log(line(total));
process.exitCode = total.failed > 0 ? 1 : 0;

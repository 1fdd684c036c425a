// Runs the checks side by side, then the suites: those that wait for servers one after another, and what is nothing but
// work beside them, on the time that they leave. Says what each took, and ends with the plain count of all.
//   node scripts/test.mjs           everything (npm test)
//   node scripts/test.mjs --fast    the checks and the unit tests (npm run check)
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { setPriority, tmpdir } from "node:os";
import { join, relative } from "node:path";

const fast = process.argv.includes("--fast");
const vitestProgram = join("node_modules", "vitest", "vitest.mjs");
const scratch = mkdtempSync(join(tmpdir(), "fettle-test-"));

/** A check either holds or not: it counts as one test. What it says is told when it has ended. */
const check = (name, command, ...args) => ({
  name,
  run: async () => {
    const { status, stdout, stderr } = await ended(command, args);
    console.log(`\n── ${name}\n${stdout}${stderr}`.trimEnd());
    return counted(status === 0);
  },
});

/** An architecture check that saw no modules has checked nothing, and fails. */
const imports = {
  name: "imports",
  run: async () => {
    const args = ["--config", ".dependency-cruiser.mjs", "-T", "json", "src", "test"];
    const { stdout, status } = await ended("depcruise", args);
    console.log("\n── imports");
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

const suite = (project, node = { path: process.execPath, name: project }) => ({
  name: node.name,
  run: async () => {
    console.log(`\n── ${node.name}`);
    const { args, report } = vitest(project);
    const child = spawn(node.path, [vitestProgram, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    return tally(report, await exited(child));
  },
});

/**
 * On Linux the scripts run on the Node of package.json, which npm finds before the one that it runs on itself. What is
 * promised for older ones is held on that one.
 */
function unitOnNodeOfNpm() {
  const path = process.env.npm_node_execpath;
  if (path === undefined) return [];
  const version = execFileSync(path, ["--version"], { encoding: "utf8" }).trim();
  return version === process.version ? [] : [suite("unit", { path, name: `unit, ${version}` })];
}

/**
 * Yields to all others: leases in the suites on servers are kept in real time, and work without end would starve them.
 * What it says is told when it has ended.
 */
const patient = name => ({
  name,
  run: async () => {
    const { args, report } = vitest(name);
    const child = spawn(process.execPath, [vitestProgram, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    setPriority(child.pid, 19);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", text => (said += text));
    const code = await exited(child);
    console.log(`\n── ${name}\n${said}`.trimEnd());
    return tally(report, code);
  },
});

function vitest(name) {
  const report = join(scratch, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  return { report, args: ["run", "--project", name, ...reporters] };
}

const checks = [
  check("format", "biome", "format", "."),
  check("lint", "oxlint", "--type-aware", "--deny-warnings"),
  check("types", "tsc", "-p", "."),
  imports,
  check("dead code", "knip"),
];
const waiting = ["contract", "control-plane"].map(project => suite(project));

function counted(ok) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

function ended(command, args) {
  return new Promise(resolve => {
    execFile(command, args, { maxBuffer: 1 << 28 }, (error, stdout, stderr) =>
      resolve({ status: error ? (error.code ?? 1) : 0, stdout, stderr }),
    );
  });
}

function exited(child) {
  return new Promise((resolve, reject) => child.on("error", reject).on("close", code => resolve(code ?? 1)));
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
await Promise.all(checks.map(each => timed(each)));
await timed(suite("unit"));
if (!fast) await inTurn(unitOnNodeOfNpm());
if (!fast) await Promise.all([timed(patient("property")), inTurn(waiting)]);
rmSync(scratch, { recursive: true, force: true });

async function inTurn(parts) {
  for (const part of parts) await timed(part);
}

async function timed({ name, run }) {
  const since = performance.now();
  const result = await run();
  for (const key of Object.keys(total)) total[key] += result[key];
  rows.push([name, seconds(since), result]);
}

const line = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
for (const [name, message] of failures) console.log(`\n✗ ${name}\n${message.split("\n").slice(0, 40).join("\n")}`);
console.log(`\n── all, in ${seconds(startedAt)}`);
for (const [name, took, result] of rows) console.log(`${name.padEnd(18)}${took.padStart(10)}   ${line(result)}`);
console.log(line(total));
process.exitCode = total.failed > 0 ? 1 : 0;

import { Command, Option } from "commander";
import { expect, test } from "vitest";
import { readEnvironment, variableOf } from "./environment.ts";
import { booleanOf, flag } from "./flags.ts";
import { Failure } from "./io.ts";

function read(args: readonly string[], env: Record<string, string>) {
  const command = new Command("x")
    .option("--log-level <level>", "", "info")
    .addOption(flag("--dry-run [boolean]", "", { read: booleanOf, or: "false" }))
    .option("--kubeconfig <path>", "");
  command.parse(args, { from: "user" });
  readEnvironment(command, env);
  return command.opts<Record<string, unknown>>();
}

test("a variable stands in for a flag that was not typed", () => {
  const env = { FETTLE_LOG_LEVEL: "debug", FETTLE_DRY_RUN: "true", FETTLE_KUBECONFIG: "/k" };
  expect(read([], env)).toEqual({ logLevel: "debug", dryRun: true, kubeconfig: "/k" });
});

test("the flag wins, also where it says what the default says", () => {
  const env = { FETTLE_LOG_LEVEL: "debug", FETTLE_DRY_RUN: "true" };
  expect(read(["--log-level=info", "--dry-run=false"], env)).toEqual({ logLevel: "info", dryRun: false });
});

test("an empty variable is none, and others are not looked at", () => {
  expect(read([], { FETTLE_LOG_LEVEL: "", LOG_LEVEL: "debug" })).toEqual({ logLevel: "info", dryRun: false });
});

test("a value that makes no sense is refused by the name of its variable", () => {
  const refusal = new Failure("FETTLE_DRY_RUN=yes: it must be true or false.", { exitCode: 2 });
  expect(() => read([], { FETTLE_DRY_RUN: "yes" })).toThrow(refusal);
});

test("hyphens become underscores", () => {
  expect(variableOf(new Option("--leader-elect-lease-duration <d>"))).toBe("FETTLE_LEADER_ELECT_LEASE_DURATION");
});

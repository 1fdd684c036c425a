// The environment twin of each flag: --log-level is FETTLE_LOG_LEVEL. What was typed wins; an empty variable is none.

import { type Command, InvalidArgumentError, type Option } from "commander";
import { nearest } from "../api/nearest.ts";
import { booleanOf } from "./flags.ts";
import { Failure, type Io } from "./io.ts";

/** For the end of every command's help. */
export const environmentHelp =
  "Each flag has a twin in the environment: --log-level is FETTLE_LOG_LEVEL. The flag wins.";

const prefix = "FETTLE_";

/** Called before a command's action: from then on `command.opts()` holds what the environment says as well. */
export function readEnvironment(command: Command, env: Io["env"]): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const text = env[variableOf(option)];
    const isTyped = command.getOptionValueSource(name) === "cli";
    if (isTyped || text === undefined || text === "") continue;
    command.setOptionValueWithSource(name, valueOf(option, text), "env");
  }
}

/** A sentence for each variable that is the twin of no flag of any command: a misspelt one would be silent. */
export function unknownVariables(commands: readonly Command[], env: Io["env"]): string[] {
  const known = [...new Set(commands.flatMap(({ options }) => options.map(variableOf)))];
  return Object.keys(env)
    .filter(name => name.startsWith(prefix) && env[name] !== "" && !known.includes(name))
    .map(name => {
      const meant = nearest(name, known);
      return `${name} is set, but no flag has that twin${meant === undefined ? "" : `; did you mean ${meant}?`}`;
    });
}

export function variableOf(option: Pick<Option, "name">): string {
  return `${prefix}${option.name().toUpperCase().replaceAll("-", "_")}`;
}

function valueOf(option: Option, text: string): unknown {
  try {
    if (option.isBoolean()) return booleanOf(text);
    if (option.parseArg === undefined) return text;
    // Commander passes what is there so far; no flag of ours adds up.
    return (option.parseArg as (value: string, previous: unknown) => unknown)(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new Failure(`${variableOf(option)}=${text}: ${error.message}`, { exitCode: 2, cause: error });
  }
}

// The environment twin of each flag: --log-level is FETTLE_LOG_LEVEL. What was typed wins; an empty variable is none.

import { type Command, InvalidArgumentError, type Option } from "commander";
import { Failure, type Io } from "./io.ts";

/** For the end of a command's help. */
export const environmentHelp =
  "Each flag has a twin in the environment: --log-level is FETTLE_LOG_LEVEL. The flag wins.";

/** Called first in a command's action: from then on `command.opts()` holds what the environment says as well. */
export function readEnvironment(command: Command, env: Io["env"]): void {
  for (const option of command.options) {
    const name = option.attributeName();
    const text = env[variableOf(option)];
    const isTyped = command.getOptionValueSource(name) === "cli";
    if (isTyped || text === undefined || text === "") continue;
    command.setOptionValueWithSource(name, valueOf(option, text), "env");
  }
}

export function variableOf(option: Pick<Option, "name">): string {
  return `FETTLE_${option.name().toUpperCase().replaceAll("-", "_")}`;
}

function valueOf(option: Option, text: string): unknown {
  try {
    if (option.parseArg === undefined) return text;
    // Commander passes what is there so far; no flag of ours adds up.
    return (option.parseArg as (value: string, previous: unknown) => unknown)(text, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new Failure(`${variableOf(option)}=${text}: ${error.message}`, { exitCode: 2, cause: error });
  }
}

// The command line as a whole: which commands there are, and how errors and exit codes reach the shell.

import { Command, CommanderError } from "commander";
import { clusterCommand } from "./cluster.ts";
import { crdsCommand } from "./crds.ts";
import { installCommand } from "./install.ts";
import { type ExitCode, Failure, type Io } from "./io.ts";
import { machinesCommand } from "./machines.ts";
import { runCommand } from "./run.ts";
import { simulateCommand } from "./simulate.ts";
import { upCommand } from "./up.ts";
import { validateCommand } from "./validate.ts";

export async function run(args: readonly string[], io: Io, version: string): Promise<ExitCode> {
  try {
    await program(io, version).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    return explain(error, io);
  }
}

function program(io: Io, version: string): Command {
  const fettle = new Command("fettle")
    .description("Keeps the nodes of a Kubernetes cluster healthy and decides, in the open, when a node may go.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .showHelpAfterError("(add --help for what is possible)");
  const commands = [
    upCommand(io),
    runCommand(io, version),
    installCommand(io, version),
    crdsCommand(io),
    validateCommand(io),
    clusterCommand(io),
    machinesCommand(io),
    simulateCommand(io),
  ];
  for (const command of commands) fettle.addCommand(command);
  settle(fettle, io);
  return fettle;
}

// Commander would write to the process and end it; here every command answers through Io and an exit code.
function settle(command: Command, io: Io): void {
  command.exitOverride().configureOutput({ writeOut: text => io.out(text), writeErr: text => io.err(text) });
  for (const child of command.commands) settle(child, io);
}

function explain(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Failure) {
    if (error.message !== "") io.err(`fettle: ${error.message}\n`);
    return error.exitCode;
  }
  io.err(`fettle: ${(error as Error).message}. This is a mistake of ours: please report it with what you typed.\n`);
  return 1;
}

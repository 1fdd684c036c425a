// What a command may touch of the process it runs in, so that tests can run commands without one.

export type Io = {
  out(text: string): void;
  err(text: string): void;
  /** Everything on standard input, read to its end. */
  stdin(): Promise<Uint8Array>;
  /** Whether `out` is a terminal that wants colours. */
  colour: boolean;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or SIGTERM, from the first look on: a command that serves ends in good order. */
  readonly signal: AbortSignal;
};

/** Exit codes: 0 done; 1 the answer is no or it could not be done; 2 the command line makes no sense. */
export type ExitCode = 0 | 1 | 2;

/**
 * An error for the person at the terminal: one sentence that says what to do, printed without a stack. Without a
 * message the command has already said everything, and only the exit code is left to give.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly exitCode: ExitCode;

  constructor(message: string, options: ErrorOptions & { exitCode?: ExitCode } = {}) {
    super(message, options);
    this.exitCode = options.exitCode ?? 1;
  }
}

/** What the system says of a file, in words. */
export function systemSentence(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return "there is no such file or directory";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    case "ELOOP":
      return "its symbolic links lead in a circle";
    case "ENOSPC":
      return "no space is left on the device";
    default:
      return (error as Error).message;
  }
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

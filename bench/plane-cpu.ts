// Processor time of a control plane and of all that runs on it: on a machine that others use too it says more than the
// time on the wall. Linux only.

import { readdirSync, readFileSync } from "node:fs";

const everyMs = 100;

/** Of all threads of a process so far; 0 for one that is gone. */
export function cpuSeconds(pid: number | undefined): number {
  const text = read(`/proc/${pid}/stat`);
  // The name of the program may have spaces; the numbers come after it. Ticks are hundredths of a second.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** Those whose command line names the folder: etcd, the servers, and whoever has a kubeconfig there. */
export function processesOf(dir: string): number[] {
  const pids = readdirSync("/proc").filter(name => /^\d+$/.test(name));
  return pids.filter(pid => read(`/proc/${pid}/cmdline`).includes(dir)).map(Number);
}

/** What some processes have used, looked at again and again, so that it can be told later between which instants. */
export class CpuWatch {
  readonly #pids: readonly number[];
  readonly #samples: { readonly at: number; readonly seconds: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(pids: readonly number[]) {
    this.#pids = pids;
    this.#timer = setInterval(() => this.#look(), everyMs);
    this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** By the samples around them. */
  between(from: number, to: number): number {
    const at = (instant: number) => this.#samples.find(sample => sample.at >= instant) ?? this.#samples.at(-1);
    return (at(to)?.seconds ?? Number.NaN) - (at(from)?.seconds ?? Number.NaN);
  }

  #look(): void {
    const seconds = this.#pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
    this.#samples.push({ at: Date.now(), seconds });
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

// A byte stream cut into lines: the newline is the only boundary, wherever the chunks or the characters fall.

import { DecodeError } from "./errors.ts";

const NEWLINE = 0x0a;
// Far above what etcd can store; a stream without newlines must not eat the memory.
const LINE_MAX_BYTES = 64 * 1024 * 1024;

export type LineSplitter = {
  push(chunk: Buffer): void;
  /** The stream is over: what is left without its newline was cut off. */
  end(): void;
};

export function lineSplitter(line: (text: string) => void): LineSplitter {
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  const take = (last: Buffer): void => {
    // Joined once a line, and decoded only when whole: a character may lie across two chunks.
    const bytes = pending.length === 0 ? last : Buffer.concat([...pending, last]);
    pending = [];
    pendingBytes = 0;
    if (bytes.length > 0) line(bytes.toString("utf8"));
  };

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
        take(chunk.subarray(start, at));
        start = at + 1;
      }
      if (start === chunk.length) return;
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > LINE_MAX_BYTES)
        throw new DecodeError(`A line of the stream has over ${LINE_MAX_BYTES} bytes.`);
    },
    end() {
      if (pendingBytes > 0) throw new DecodeError(`The stream was cut off ${pendingBytes} bytes into a line.`);
    },
  };
}

import { expect, test } from "vitest";
import { log } from "./log.ts";

function lines(options: Parameters<typeof log>[0], colour = false) {
  const written: string[] = [];
  const say = log(options, { out: text => void written.push(text), colour });
  return { written, say };
}

test("as JSON a line holds the time, the level in a word, the sentence and the facts", () => {
  const { written, say } = lines({ level: "info", format: "json" });
  say.info({ command: "evict-pod" }, "Done.");
  expect(written).toHaveLength(1);
  const { time, ...line } = JSON.parse(written[0] ?? "") as Record<string, unknown>;
  expect(line).toEqual({ level: "info", command: "evict-pod", message: "Done." });
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("as text it reads from left to right, with facts quoted where they hold blanks", () => {
  const { written, say } = lines({ level: "debug", format: "text" });
  say.warn({ reason: "Too many", epoch: 3, object: "claim/web-1" }, "Not now.");
  expect(written[0]).toMatch(/^[\d:.]{12} WARN {2}Not now\. {2}reason="Too many" epoch=3 object=claim\/web-1\n$/);
  say.debug({}, "Nothing.");
  expect(written[1]).toMatch(/^[\d:.]{12} DEBUG Nothing\.\n$/);
});

test("colours only where they are wanted", () => {
  const { written, say } = lines({ level: "info", format: "text" }, true);
  say.error({}, "No.");
  expect(written[0]).toContain("\u001b[31mERROR\u001b[39m");
});

test.each(["json", "text"] as const)("what matters less than the level is not said, as %s", format => {
  const { written, say } = lines({ level: "warn", format });
  say.info({}, "One.");
  say.warn({}, "Two.");
  expect(written).toHaveLength(1);
});

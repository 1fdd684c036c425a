// docs/commands.md: what each command's --help says, for those who read before they type.

import { helpTexts } from "./program.ts";

const head = `# Commands

<!-- Written by npm run generate from what --help prints; change it there. -->

`;

export function commandsPage(version: string): string {
  const sections = [...helpTexts(version)].map(
    ([name, text]) => `## fettle${name === "" ? "" : ` ${name}`}\n\n\`\`\`\n${text.trim()}\n\`\`\`\n`,
  );
  return head + sections.join("\n");
}

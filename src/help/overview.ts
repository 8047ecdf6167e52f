import { paragraph } from './columns.ts';
import { type Placed, PURPOSE } from './describe.ts';
import { commandsSection, joined, usage } from './sections.ts';

/** What `filings` alone prints: what it is, and how to begin. */
export function overview(program: Placed, columns: number): string {
  return joined([
    usage(program, columns),
    paragraph(PURPOSE, columns),
    commandsSection(program.spec, columns),
    [
      'To begin with sample filings, which need no account:',
      '  filings list 0001234567-24-000001 --sandbox',
      '  filings download 0001234567-24-000001 primary.htm --sandbox',
      '',
      'To begin with a service:',
      '  filings config set base-url https://api.example.com',
      '  filings config set api-key',
      '  filings config check',
      '',
    ].join('\n'),
    paragraph("'filings -h' shows help, 'filings COMMAND -h' that of a command.", columns),
  ]);
}

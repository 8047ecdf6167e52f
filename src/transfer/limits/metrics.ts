/** What a run tells the monitoring: counts so far, and how it ended once it has. */
export interface Figures {
  /** By what became of them: downloaded, resumed, skipped, failed, done, unmatched. */
  readonly files: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly requests: number;
  readonly retries: number;
  readonly waitMs: number;
  /** Undefined while the run goes on. */
  readonly exitCode?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly lastSuccess?: number | undefined;
  readonly retryAt?: number | undefined;
}

type Sample = readonly [labels: string, value: number];

/** The figures in Prometheus' text format, version 0.0.4, for node_exporter's textfile collector. */
export function metricsText(figures: Figures): string {
  const files = Object.entries(figures.files).map(([result, count]): Sample => [`{result="${result}"}`, count]);
  const seconds = (ms: number | undefined): Sample[] => (ms === undefined ? [] : [['', ms / 1000]]);
  return [
    metric('filings_files', 'counter', 'Files by what became of them.', files),
    metric('filings_bytes', 'counter', 'Body bytes received.', [['', figures.bytes]]),
    metric('filings_requests', 'counter', 'Requests sent.', [['', figures.requests]]),
    metric('filings_retries', 'counter', 'Tries after the first.', [['', figures.retries]]),
    metric('filings_wait_seconds', 'counter', 'Time spent waiting before tries.', seconds(figures.waitMs)),
    metric('filings_exit_code', 'gauge', 'How the last run ended.', sampleOf(figures.exitCode)),
    metric(
      'filings_last_success_timestamp_seconds',
      'gauge',
      'When a run last ended with exit code 0.',
      seconds(figures.lastSuccess),
    ),
    metric(
      'filings_retry_at_timestamp_seconds',
      'gauge',
      'When the service asked to come back.',
      seconds(figures.retryAt),
    ),
  ].join('');
}

/** When a run last ended well, as an earlier run's metrics say it: milliseconds since the epoch, or undefined. */
export function lastSuccessIn(text: string): number | undefined {
  const found = /^filings_last_success_timestamp_seconds (\d{1,12}(?:\.\d{1,9})?)$/m.exec(text)?.[1];
  return found === undefined ? undefined : Number(found) * 1000;
}

function sampleOf(value: number | undefined): Sample[] {
  return value === undefined ? [] : [['', value]];
}

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return '';
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

import { Job } from 'kubernetes-models/batch/v1';
import { PersistentVolumeClaim } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../src/errors.ts';
import { ACTIONS, jobDefinition, manifest, statusOf } from '../recipes.ts';

const CODES = Object.keys(ACTIONS) as ErrorCode[];
const job = manifest('job.yaml');
const pod = job.spec.template.spec;
const [container] = pod.containers;

interface Rule {
  readonly action: string;
  readonly onExitCodes?: { readonly containerName: string; readonly operator: string; readonly values: number[] };
}
const rules: readonly Rule[] = job.spec.podFailurePolicy.rules;
const byExit = rules.flatMap(({ action, onExitCodes }) => (onExitCodes ? [{ action, ...onExitCodes }] : []));

describe('the manifests for Kubernetes', () => {
  it('are what Kubernetes takes, and not when a member has a wrong type', () => {
    expect(() => new Job(job).validate()).not.toThrow();
    expect(() => new PersistentVolumeClaim(manifest('volume.yaml')).validate()).not.toThrow();
    expect(() => new Job({ ...job, spec: { ...job.spec, completions: '8' } }).validate()).toThrow('completions');
  });

  it('has one index for each shard', () => {
    const shard = container.args.find((arg: string) => arg.startsWith('--shard='));
    expect(shard).toBe(`--shard=auto/${job.spec.completions}`);
    expect(job.spec).toMatchObject({ completionMode: 'Indexed', parallelism: job.spec.completions });
  });

  it('keeps what the API server holds against a failure policy', () => {
    // The first rule that matches counts; FailIndex needs a limit an index; containers that start again have no exit code.
    expect(job.spec.backoffLimitPerIndex).toBeGreaterThan(0);
    expect(pod.restartPolicy).toBe('Never');
    for (const { containerName, operator, values } of byExit) {
      expect([containerName, operator]).toEqual([container.name, 'In']);
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
      expect(values).not.toContain(0);
    }
    const all = byExit.flatMap(({ values }) => values);
    expect(new Set(all).size).toBe(all.length);
  });

  it.each(CODES)('%s has the action that it needs', (code) => {
    const action = byExit.find(({ values }) => values.includes(statusOf(code)))?.action;
    // What has no rule counts against the index's limit.
    expect(action).toBe({ again: 'Count', task: 'FailIndex', job: 'FailJob', any: undefined }[ACTIONS[code]]);
  });

  it('mounts what it has, and the disk that volume.yaml asks for', () => {
    const volumes = pod.volumes.map(({ name }: { name: string }) => name);
    for (const { volumeMounts } of [...pod.initContainers, container]) {
      for (const { name } of volumeMounts) expect(volumes).toContain(name);
    }
    const { metadata, spec } = manifest('volume.yaml');
    expect(pod.volumes).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: metadata.name } });
    expect(spec.accessModes).toEqual(['ReadWriteMany']);
  });
});

interface Condition {
  readonly onExitCode?: string;
  readonly onReason?: string;
  readonly onStatusReason?: string;
  readonly action: string;
}
const { attempts, evaluateOnExit } = jobDefinition().retryStrategy;

/** The first condition that matches; what none matches is tried again. */
function batchAction(ended: { readonly [on in 'onExitCode' | 'onReason' | 'onStatusReason']?: string }): string {
  const fits = (glob: string | undefined, text: string | undefined) =>
    glob === undefined ||
    (text !== undefined && (glob.endsWith('*') ? text.startsWith(glob.slice(0, -1)) : text === glob));
  const found = (evaluateOnExit as Condition[]).find(
    ({ onExitCode, onReason, onStatusReason }) =>
      fits(onExitCode, ended.onExitCode) &&
      fits(onReason, ended.onReason) &&
      fits(onStatusReason, ended.onStatusReason),
  );
  return found?.action ?? 'RETRY';
}

describe('the retry strategy for AWS Batch', () => {
  const ended = 'Essential container in task exited';

  it.each(CODES)('%s has the action that it needs', (code) => {
    const action = batchAction({ onExitCode: `${statusOf(code)}`, onStatusReason: ended });
    expect(action).toBe(ACTIONS[code] === 'again' ? 'RETRY' : 'EXIT');
  });

  it('a host that goes away is tried again, an image that is not there is not', () => {
    expect(batchAction({ onStatusReason: 'Host EC2 (instance i-0123) terminated.' })).toBe('RETRY');
    expect(batchAction({ onReason: 'CannotPullContainerError: not found', onStatusReason: 'Task failed' })).toBe(
      'EXIT',
    );
  });

  it('keeps the bounds of the service: ten attempts, five conditions, digits and a star', () => {
    expect(attempts).toBeLessThanOrEqual(10);
    expect(evaluateOnExit.length).toBeLessThanOrEqual(5);
    for (const { onExitCode = '1' } of evaluateOnExit) expect(onExitCode).toMatch(/^\d*\*?$/);
  });
});

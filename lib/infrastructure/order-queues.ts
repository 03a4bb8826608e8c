import { Duration, type RemovalPolicy } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { hiddenMs, queueFigures, runs } from '#ports/limits';
import { type FunctionSpec, redriveIn } from '#runtime/topology';

export interface OrderQueuesProps {
  readonly functions: readonly FunctionSpec[];
  /** The prefix of each queue's name, by which the functions find it. */
  readonly prefix: string;
  readonly key: IKey;
  readonly removalPolicy: RemovalPolicy;
}

/** The time for which SQS reuses a data key. It makes about a tenth of the KMS calls that the default of five minutes needs. */
const dataKeyReuse = Duration.hours(1);

/** All queues of the system, with their dead-letter queues. */
export class OrderQueues extends Construct {
  readonly #queues: ReadonlyMap<string, Queue>;

  constructor(scope: Construct, id: string, { functions, prefix, key, removalPolicy }: OrderQueuesProps) {
    super(scope, id);
    const common = {
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: key,
      dataKeyReuse,
      enforceSSL: true,
      retentionPeriod: Duration.millis(queueFigures.keptMs),
      maxMessageSizeBytes: queueFigures.messageBytesMax,
      removalPolicy,
    };
    const made = new Map<string, Queue>();
    const redriveOf = redriveIn(functions);
    const hidden = new Map(functions.flatMap((spec) => spec.sources.map(({ queue }) => [queue, hiddenMs(spec)])));
    const make = (queue: string, deadLetters?: { queue: Queue; maxReceiveCount: number }): Queue => {
      const visibilityTimeout = Duration.millis(hidden.get(queue) ?? hiddenMs({ file: 'dead-letter', timeoutMs: runs.queueMs }));
      const queueName = prefix + queue;
      const props = { ...common, queueName, visibilityTimeout, ...(deadLetters ? { deadLetterQueue: deadLetters } : {}) };
      const created = new Queue(this, queue, props);
      made.set(queue, created);
      return created;
    };
    for (const queue of hidden.keys()) {
      const redrive = redriveOf(queue);
      if (redrive) make(queue, { queue: make(redrive.deadLetterQueue), maxReceiveCount: redrive.maxReceiveCount });
    }
    this.#queues = made;
  }

  /** Returns a queue by its name without the prefix: `payment-requests`. */
  queue(name: string): Queue {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`Unknown queue ${name}; expected one of ${this.names.join(', ')}.`);
    return queue;
  }

  get names(): readonly string[] {
    return [...this.#queues.keys()];
  }
}

import type { Mutant } from './mutant.ts';

const counts = 'lib/roles/dead-letters/outcome.ts';
const decision = 'lib/roles/dead-letters/failed-message.ts';
const consumer = 'lib/roles/message-consumer/consumer.ts';

/** Mistakes about the messages of consumers: their ends, their neighbors, their counts, and the canary. */
export const consumers: readonly Mutant[] = [
  {
    name: 'a message is given up without a dead letter',
    why: 'its envelope is noted, and not sent to the dead-letter queue',
    file: 'lib/roles/dead-letters/hand-over.ts',
    find: 'await queues.send([{ queue: queueNames.deadLetters(queue), body: poison, ...groupOf(delivery) }]);',
    replace: '',
  },
  {
    name: 'a consumer with short-lived types drops every failed message',
    why: 'the types of the policy are not compared with that of the message',
    file: decision,
    find: "policy.drop.includes(String(messageFieldsIn(delivery.body)?.['type']))",
    replace: 'policy.drop.length > 0',
  },
  {
    name: 'a dropped message is not counted',
    why: 'only the log tells that a message was dropped',
    file: decision,
    find: "ports.telemetry.count('dropped');",
    replace: '',
  },
  {
    name: 'a message of a consumer is acknowledged while it is handled',
    why: 'nobody waits for the handler',
    file: consumer,
    find: 'await handle({',
    replace: 'void (async (context: MessageContext) => handle(context))({',
  },
  {
    name: 'redelivered messages are handled together',
    why: 'a message that ends its process is counted with all the others of its batch',
    file: 'lib/roles/dead-letters/redelivered.ts',
    find: 'await aloneForAWhile(work, ports);',
    replace: '',
  },
  {
    name: 'all messages of a consumer are one conversation',
    why: 'the conversation of a message is left out of its count',
    file: 'lib/roles/dead-letters/conversation.ts',
    find: "return ['conversation', typeof client === 'string' ? client : 'anyone', conversation];",
    replace: "return ['conversation', typeof client === 'string' ? client : 'anyone', queue];",
  },
  {
    name: 'an attempt whose count was written without an answer stays counted',
    why: 'the count is not corrected when its write fails, although it may have been applied',
    file: counts,
    find: 'await ifPossible(delivery, () => failureCounts.correct(delivery, without(at)), telemetry);',
    replace: '',
  },
  {
    name: 'an outage counts as a failure of the message',
    why: 'an attempt that met an outage stays in the count',
    file: decision,
    find: 'if (begun) await counts.correct(delivery, without(begun.at), begun.counts);',
    replace: '',
  },
  {
    name: 'a success leaves the failures of its conversation',
    why: 'the count is not cleared, so later failures are added to old ones',
    file: counts,
    find: 'failureCounts.correct(delivery, () => undefined, begun?.counts)',
    replace: 'failureCounts.correct(delivery, (count) => count, begun?.counts)',
  },
  {
    name: 'a consumer that opens with a canary handles all messages at once',
    why: 'the circuit breaker stays closed',
    file: 'lib/roles/channels/operate.ts',
    find: 'if (canary) await openBreaker(channel, found.closedAt ?? found.at, at, store);',
    replace: '',
  },
  {
    name: 'a canary that fails lets the other messages go',
    why: 'a failure of the content counts as an answer of the service',
    file: consumer,
    find: 'else if (permit.isProbe) await permit.failed();',
    replace: '',
  },
  {
    name: 'a closed consumer goes on',
    why: 'the state of the channel names another queue',
    file: 'lib/roles/channels/state.ts',
    find: 'return closed(counted, channel, [queue], {',
    replace: 'return closed(counted, channel, [`${channel}-message`], {',
  },
  {
    name: 'an agent takes old work for a sign that it knows the circuit breaker',
    why: 'it notes when it calls its service, and not when messages arrive',
    file: 'functions/agent.ts',
    find: 'for (const agent of new Set(event.Records.map(agentFor))) agent?.arrived();',
    replace: '',
  },
  {
    name: 'an agent that has read the circuit breaker for an old request does not read it for a new one',
    why: 'a read while the channel is closed counts as one after the opening',
    file: 'lib/roles/agent/circuit-guard.ts',
    find: 'if (now - this.arrivedAt >= restedMs) this.rests += 1;',
    replace: 'if (now - Math.max(this.arrivedAt, this.read.at) >= restedMs) this.rests += 1;',
  },
  {
    name: 'the right to probe never ends',
    why: 'a process that stands still after it won the right probes beside another process: the worlds meet it once in hundreds',
    file: 'lib/roles/agent/circuit-guard.ts',
    find: ' && clock.now() < begun.probeAt;',
    replace: ';',
    suites: ['test/roles/breakers.test.ts'],
  },
  {
    name: 'a read of the circuit breaker counts from its end',
    why: 'a process that stands still during the read takes the old answer for a new one',
    file: 'lib/roles/agent/circuit-guard.ts',
    find: 'this.take(await this.options.breakers.breaker(this.agent), moment);',
    replace: 'this.take(await this.options.breakers.breaker(this.agent), this.moment());',
  },
];

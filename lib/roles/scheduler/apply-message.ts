import { fits, type JsonObject } from '#core/data/json';
import { withoutTexts } from '#core/definition/secrets';
import { kindOf } from '#core/instructions/index';
import { subjectOf } from '#ports/records';
import { contentOf } from '#roles/operator/event-content';
import { withKey } from '#roles/operator/idempotency';
import type { Instruction, Signal } from '#roles/operator/instruction';
import { claim, isUnclaimed, resume, start } from './claiming.ts';
import { addFacts, applyEvent, current, type Draft, patchRecord, takeClaim } from './draft.ts';
import { afterHandler, handleFinished } from './finished-handlers.ts';
import { saidBy, standing } from './given-instructions.ts';
import { withoutHandlers } from './handlers.ts';
import { inconsistent } from './inconsistencies.ts';
import { noteMasked } from './masking.ts';
import { lockFor, unlock } from './order-lock.ts';
import { secretsOf } from './redaction.ts';
import { hasValidOutput, isFromItsAgent, replied } from './replies.ts';
import { report } from './reports.ts';
import { noteRestart } from './restarts.ts';
import type { Incoming } from './types.ts';
import { unattended } from './unattended.ts';

/** Applies one message to the order, and notes whether the message changed something. */
export function applyMessage(draft: Draft, message: Incoming): Draft {
  const applied = appliedMessage(draft, message);
  if (message.type === 'wake-up') return applied;
  // Messages of these types may change only the record or the journal: an example is an instruction that suspends an unclaimed order.
  const isTaken =
    applied.instance.state !== draft.instance.state ||
    message.type === 'instruction' ||
    message.type === 'report' ||
    message.type === 'handled' ||
    ((message.type === 'inconsistent' || message.type === 'unattended') && applied.instance !== draft.instance);
  return isTaken ? { ...applied, taken: [...applied.taken, message.id] } : applied;
}

function appliedMessage(draft: Draft, message: Incoming): Draft {
  const { settings } = draft;
  switch (message.type) {
    case 'reply': {
      const order = current(draft);
      const isExpected = isFromItsAgent(order, message) && hasValidOutput(order, message, settings);
      if (!isExpected) return draft;
      const event = replied(order, message, secretsOf(order), settings);
      const fault = event.reply.status === 'failed' ? event.reply.fault : undefined;
      return noteMasked(draft, applyEvent(draft, event), message.requestId, fault);
    }
    case 'heartbeat': {
      const { requestId, completeBy } = message;
      return isFromItsAgent(current(draft), message) ? applyEvent(draft, { type: 'heartbeat', requestId, completeBy }) : draft;
    }
    case 'instruction':
      return instruct(draft, message);
    case 'signal':
      return signal(draft, message.signal, message.key);
    case 'report':
      return report(draft, message);
    case 'handled':
      return afterHandler(draft, message);
    case 'inconsistent':
      return inconsistent(draft, message);
    case 'unattended':
      return unattended(draft, message);
    case 'lock':
      return lockFor(draft, message);
    case 'unlock':
      return unlock(draft, message.by);
    case 'compensate':
      return compensateForCaller(draft);
    case 'wake-up': {
      const changed = draft.changed || draft.loaded.record.notes.length > 0;
      const woken = { ...draft, wakeUps: [...draft.wakeUps, message.id], changed };
      return isUnclaimed(draft.record) ? claim(woken) : woken;
    }
  }
}

/**
 * Applies a signal. Unlike an instruction, it does not take an order out of Error; the order keeps the signal. A signal that the order
 * cannot keep changes nothing: it does not even claim the order.
 */
function signal(draft: Draft, { name, payload }: Signal, key: string | undefined): Draft {
  const keyed = { ...draft, instance: withKey(draft.instance, key) };
  const isToClaim = isUnclaimed(keyed.record) && keyed.instance.state.phase === 'running';
  const begun = isToClaim ? claim(keyed) : keyed;
  const next = applyEvent(begun, { type: 'signaled', name, payload });
  return next === begun && begun.needs === undefined ? draft : next;
}

/**
 * A task keeps the content of an instruction up to this size; of a larger one, only the kind, because the outbox of the record holds a
 * copy.
 */
const saidBytesMax = 2048;

function instruct(draft: Draft, { instruction, key, past = new Map(), solution }: Extract<Incoming, { type: 'instruction' }>): Draft {
  const { by, reason, kind } = instruction;
  const { staysStopped, changesRecord } = kindOf(instruction);
  const said = saidBy(instruction, secretsOf(current(draft)));
  const given = { ...givenFact(draft, instruction, said), ...(solution ? { solution: solution.id } : {}) };
  const noted = addFacts({ ...draft, instance: withKey(draft.instance, key) }, [given]);
  const kept = { kind, ...(fits(said, saidBytesMax) ? said : {}) };
  const decided = withoutTasks(
    noteFollowers(
      {
        ...noted,
        decidedBy: {
          by,
          reason,
          instruction: kept,
          ...(solution ? { solution } : {}),
          ...(leavesTasks(kind) ? { leavesTasks: true } : {}),
        },
      },
      instruction,
    ),
    kind,
  );
  const { program, order } = draft.loaded;
  const asked = { program, state: decided.instance.state, subject: subjectOf(order), past };
  const content = contentOf(instruction, asked);
  if (kind === 'suspend') return applyEvent(patchRecord(decided, { suspended: true }), content);
  if (kind === 'resume') return resume(withoutHandlers(decided));
  if (staysStopped?.(asked, instruction)) return applyEvent(patchRecord(decided, changesRecord?.(instruction) ?? {}), content);
  const freed = patchRecord(decided, { processState: 'Processing', fault: null, suspended: false });
  // An order that went into Error unclaimed, or after a reset, is claimed by this instruction.
  const claimed = freed.record.lockedBy === null ? takeClaim(freed) : freed;
  if (kind === 'resubmit' && claimed.instance.state.phase === 'initialized') return start(claimed);
  return applyEvent(claimed, content);
}

/** Notes the orders that begin because of an instruction. */
const noteFollowers = (draft: Draft, instruction: Instruction): Draft => handleFinished(noteRestart(draft, instruction), instruction);

/** Returns the fact of an instruction: how the order stood, and what the instruction says. */
function givenFact(draft: Draft, instruction: Instruction, said: JsonObject) {
  const { by, reason, kind } = instruction;
  const secrets = secretsOf(current(draft));
  const was = kindOf(instruction).was?.({ program: draft.loaded.program, state: draft.instance.state }, instruction) ?? {};
  const { migratedFrom } = draft.loaded;
  const version = migratedFrom === undefined ? {} : { version: migratedFrom };
  const before = { ...standing(draft.record), ...withoutTexts(was, secrets), ...version };
  return { type: 'InstructionGiven', kind, by, reason, before, ...(Object.keys(said).length > 0 ? { after: said } : {}) } as const;
}

/** Whether an instruction of this kind leaves the tasks of the order open, for a later decision. */
const leavesTasks = (kind: Instruction['kind']): boolean => kind === 'suspend' || kind === 'acknowledge';

/** Ends the tasks that rules have opened, because a person has decided about the order. */
function withoutTasks(draft: Draft, kind: Instruction['kind']): Draft {
  if (!draft.instance.rules?.tasks || leavesTasks(kind)) return draft;
  const { tasks: _, ...rules } = draft.instance.rules;
  return { ...draft, instance: { ...draft.instance, rules } };
}

/** Begins to undo a completed order for its caller. The order is Processing until its effects are undone. */
function compensateForCaller(draft: Draft): Draft {
  const { phase, outcome, called } = draft.instance.state;
  if (phase !== 'closed' || outcome !== 'completed' || !called) return draft;
  return applyEvent(patchRecord(takeClaim(draft), { outcome: null }), { type: 'compensatedByCaller' });
}

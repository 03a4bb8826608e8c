import type { Mutant } from './mutant.ts';

const consumers = 'lib/roles/recovery/consumers.ts';
const inconsistencies = 'lib/roles/recovery/inconsistencies.ts';
const masking = 'lib/roles/scheduler/masking.ts';

/** Mistakes about orders that share objects: who learns of an undone write, and what a recovery masks and undoes. */
export const objects: readonly Mutant[] = [
  {
    name: 'readers before a write learn of its undo',
    why: 'the uses of an object are read from the beginning',
    file: consumers,
    find: 'let after = timeStart(requestedAt); ; ',
    replace: 'let after = timeStart(0); ; ',
  },
  {
    name: 'readers after an undo learn of it',
    why: 'the uses of an object are read up to now',
    file: consumers,
    find: "use === 'write' || requestedAt > readUntil",
    replace: "use === 'write'",
  },
  {
    name: 'a reader that was at work during the undo does not learn of it',
    why: 'a step counts as a reader at the time of its close',
    file: consumers,
    find: "use === 'write' || requestedAt > readUntil",
    replace: "use === 'write' || at > readUntil",
  },
  {
    name: 'a write that overlaps another hides it',
    why: 'a write of another order counts although it began before the first one had closed',
    file: consumers,
    find: "use === 'write' && requestedAt > write.at",
    replace: "use === 'write' && at > write.at",
  },
  {
    name: 'the write of a canceled step that was done is not recorded',
    why: 'only a step that closes as done counts',
    file: 'lib/roles/scheduler/note-objects.ts',
    find: "fact.type === 'LateResult' ||",
    replace: "(fact.type as string) === 'none' ||",
  },
  {
    name: 'an order that has undone its reader has an exception',
    why: 'a message about an undone write counts for every step that has read it',
    file: 'lib/roles/scheduler/inconsistencies.ts',
    find: 'return !read || !isUndoneAfter(',
    replace: 'return !read || read.seq > 0 || !isUndoneAfter(',
  },
  {
    name: 'a use has the time of its last request',
    why: 'the first attempt may have had the effect long before',
    file: 'lib/roles/scheduler/note-objects.ts',
    find: 'const first = requests.findIndex(',
    replace: 'const first = requests.findLastIndex(',
  },
  {
    name: 'another write in between changes nothing',
    why: 'the readers of a later write learn of the undo of an earlier one',
    file: consumers,
    find: 'readUntil = Math.min(readUntil, at);',
    replace: 'readUntil = Math.max(readUntil, at);',
  },
  {
    name: 'a lost message about an undone write is not sent again',
    why: 'consumers are looked for once, right after the undo',
    file: inconsistencies,
    find: 'const isLast = looks >= looksMax || (looks > 0 && open.length === 0 && !mayClose);',
    replace: 'const isLast = true;',
  },
  {
    name: 'a second undo tells the readers of the first write again',
    why: 'all undone writes of a step count, not those of one undo',
    file: inconsistencies,
    find: 'undone.filter((write) => write.undoneAt === undoneAt)',
    replace: 'undone',
  },
  {
    name: 'an undone write names the recovered order as its cause',
    why: 'the exception that led to the recovery is not looked up',
    file: 'lib/roles/recovery/cause.ts',
    find: "return handled?.type === 'ExceptionHandled' ? handled.exceptionId : orderId;",
    replace: 'return handled ? orderId : orderId;',
  },
  {
    name: 'a finished order does not learn of an undone write',
    why: 'the exception of an order that is closed is meant to stop it',
    file: 'lib/roles/scheduler/reports.ts',
    find: "if (isStopped || phase !== 'running' || ending)",
    replace: 'if (isStopped || ending)',
  },
  {
    name: 'the fault of a step that a recovery has canceled is forgotten',
    why: 'only an exception would have told it',
    file: masking,
    find: "activities[path]?.status !== 'Canceling'",
    replace: "activities[path]?.status === 'Canceling'",
  },
  {
    name: 'a recovery masks what it does not undo',
    why: 'a step beside the affected scope has read an undone write, and nobody hears of it',
    file: masking,
    find: 'scope?.has(definitionPath(path)) ?? true',
    replace: 'scope !== undefined || path !== undefined',
  },
  {
    name: 'a recovery undoes its step and leaves what depends on it',
    why: 'the scopes behind the step are left out',
    file: 'lib/core/instructions/way.ts',
    find: 'return [...inside.toReversed().flatMap(({ after }) => after.toReversed()), target];',
    replace: 'return inside.length < 0 ? [] : [target];',
  },
  {
    name: 'a recovery undoes what depends on its step and leaves the step',
    why: 'the step itself is left out of the scopes',
    file: 'lib/core/instructions/way.ts',
    find: 'after.toReversed()), target];',
    replace: 'after.toReversed())];',
  },
  {
    name: 'a recovery does not wait for a step at work',
    why: 'the scope is undone while its canceled step may still take effect',
    file: 'lib/core/engine/resuming.ts',
    find: 'if (!resumes || builder.hasChildren(path)) return;',
    replace: 'if (!resumes) return;',
  },
  {
    name: 'a rule about the age of an order hides an exception',
    why: 'the rule has the order go on in the write in which the exception stops it',
    file: 'lib/roles/scheduler/event-manager.ts',
    find: 'if (isNewlyBlocked || !asksAboutTimes(draft)) return draft;',
    replace: 'if (!asksAboutTimes(draft)) return draft;',
    suites: ['test/roles/recovery/looking-again.test.ts'],
  },
];

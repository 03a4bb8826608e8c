import { hits, type Summary } from './simulate.ts';

const positions = ['crash before', 'crash applied', 'crash after'] as const;
const sites = ['store.create', 'store.update', 'store.patch', 'queues.send'] as const;

/** Least counts in any 150 worlds: fewer would mean that the worlds no longer play these cases. */
const least: { readonly [event: string]: number } = {
  'outcome completed': 300,
  'outcome compensated': 50,
  'outcome canceled': 20,
  'outcome rejected': 5,
  calls: 60,
  signals: 15,
  errors: 40,
  DeadlineExpired: 150,
  OrderReset: 20,
  UndoFailed: 50,
  CancelRequested: 60,
  LateResult: 20,
  RunFailed: 20,
  InstanceRebuilt: 12,
  'emitted rules of people': 3,
  'emitted rule put': 20,
  'emitted report done': 3,
  RuleActed: 20,
  RuleWouldHave: 15,
  ExceptionHandled: 60,
  HandlerEnded: 3,
  'emitted bulk run created': 1,
  'bulk applied': 1,
  'bulk runs taken over': 2,
  'emitted lock locked': 15,
  'emitted holder of a lock gone': 2,
  'emitted process of a holder stands still': 1,
  'locks that ran out': 2,
  'seen kept': 1,
  'emitted shared objects': 2,
  'emitted recovery accepted': 4,
  ObjectsUsed: 30,
  InconsistencyFound: 8,
  'undone write masked': 1,
  'undone write read beside a recovery': 1,
  'emitted lost message about an undone write': 1,
  'emitted worlds with a notifier': 2,
  'seen task.opened': 6,
  'seen task.reminder': 1,
  'emitted message refused': 3,
  'emitted message taken without an answer': 1,
  'emitted task claim done': 1,
  'emitted worlds with amended orders': 2,
  'amend done': 5,
  'emitted worlds with consumers': 2,
  'consumer handled': 100,
  'consumer failed': 20,
  'consumer outage': 2,
  'consumer killed': 1,
  'seen dropped': 1,
  'consumer closed': 1,
  'emitted consumer opened with a canary: changed': 1,
  'emitted agent opened with a canary: changed': 3,
  'steps with another input': 1,
  'worlds with the figures that are deployed': 60,
  'emitted message days late': 10,
  'emitted stricter schema': 8,
  'emitted later request refused by a stricter schema': 8,
  'worlds with the limits of DynamoDB': 1,
  'a write is too large': 1,
  'worlds in which orders are forgotten': 1,
  'seen forgotten': 2,
};

/** Returns the cases that the worlds have not played often enough: crashes at writes and sends, outcomes, retries, limits. */
export function casesMissing(summary: Summary): readonly string[] {
  const crashes = positions.flatMap((kind) =>
    sites.filter((site) => hits(summary, (cell) => cell.kind === kind && cell.site === site) === 0).map((site) => `${kind} ${site}`),
  );
  const counts = Object.entries(least).flatMap(([event, count]) => {
    const found = summary.happened[event] ?? 0;
    return found < count ? [`${event}: ${found} of ${count}`] : [];
  });
  return [...crashes, ...counts];
}

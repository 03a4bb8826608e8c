import { hash } from 'node:crypto';
import { type Json, type JsonObject, sortedText } from '#core/data/json';
import { type Solution, solutionLimits } from '#core/solutions/solution';
import type { Clock } from '#ports/clock';
import { collections, type Document, type Documents } from '#ports/documents';
import { compareAndSet } from '#ports/util/compare-and-set';
import { dayMs } from '#ports/util/days';

interface Ports {
  readonly store: Documents;
  readonly clock: Clock;
}

/** A solution as a person writes it. */
export type SolutionDraft = Omit<Solution, 'version' | 'instructionSince' | 'createdBy'>;

export interface SolutionChange {
  readonly by: string;
  /** The version that the person has read; undefined for a new solution. */
  readonly expected: number | undefined;
  /** Returns new documents for the transaction of the write, such as the audit's entry. */
  readonly beside?: (before: Json, after: Json) => readonly Document[];
}

export type SolutionWrite =
  | { readonly outcome: 'written'; readonly solution: Solution; readonly isNew: boolean }
  /** The solution has another version, or exists although its author expected none. */
  | { readonly outcome: 'stale'; readonly current: Solution | undefined }
  | { readonly outcome: 'too-many' };

/** The instructions that people keep for the next time. */
export interface Solutions {
  /** Returns all of them by id: at most `solutionLimits.solutionsMax`, or a few more after concurrent writes. */
  list(): Promise<readonly Solution[]>;
  solution(id: string): Promise<Solution | undefined>;
  put(draft: SolutionDraft, change: SolutionChange): Promise<SolutionWrite>;
  /** Deletes a solution. `undefined`: there is none. */
  remove(id: string, change: SolutionChange): Promise<SolutionWrite | undefined>;
}

export function createSolutions({ store, clock }: Ports): Solutions {
  const read = (id: string) => store.document(collections.solutions, id);

  async function list(): Promise<readonly Solution[]> {
    const found: Solution[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.documents(collections.solutions, after, pageMax);
      found.push(...page.flatMap((document) => solutionIn(document) ?? []));
      after = page.at(-1)?.id;
      if (page.length < pageMax) return found;
    }
  }

  async function write(id: string, change: SolutionChange, next: Next): Promise<SolutionWrite> {
    const written = await compareAndSet<SolutionWrite>(async () => {
      const document = await read(id);
      const before = document && solutionIn(document);
      if (change.expected !== before?.version) return { outcome: 'stale', current: before };
      if (!before && (await list()).length >= solutionLimits.solutionsMax) return { outcome: 'too-many' };
      const version = (document?.rev ?? 0) + 1;
      const solution = next(before, version);
      const beside = change.beside?.(asJson(before), asJson(solution)) ?? [];
      const put = solution ? solutionDocument(solution) : deletedDocument(id, version, clock.now());
      if ((await store.putDocument(put, document?.rev ?? 0, beside)).outcome !== 'written') return 'lost';
      return { outcome: 'written', solution: solution ?? (before as Solution), isNew: before === undefined };
    });
    if (written === 'lost') throw new Error('Too many concurrent writes of the solution. Try again.');
    return written;
  }

  return {
    list,
    async solution(id) {
      const document = await read(id);
      return document && solutionIn(document);
    },
    put: (draft, change) => write(draft.id, change, (before, version) => nextVersion(draft, before, version, change.by)),
    async remove(id, change) {
      const document = await read(id);
      return document && solutionIn(document) ? write(id, change, () => undefined) : undefined;
    },
  };
}

type Next = (before: Solution | undefined, version: number) => Solution | undefined;

/** Solutions that are read at a time. */
const pageMax = 100;

/** Figures belong to an instruction, so a version with another instruction has none yet. */
function nextVersion(draft: SolutionDraft, before: Solution | undefined, version: number, by: string): Solution {
  const isSame = before && contentOf(before) === contentOf(draft);
  return { ...draft, version, instructionSince: isSame ? before.instructionSince : version, createdBy: before?.createdBy ?? by };
}

const contentOf = ({ instruction, parameters }: SolutionDraft): string => sortedText(asJson([instruction, parameters]));

/** Returns the first version of a solution, as a document for the transaction of another write. Its id must be unused: see `newSolutionId`. */
export const newSolution = (draft: SolutionDraft, by: string): { readonly solution: Solution; readonly document: Document } => {
  const solution = nextVersion(draft, undefined, 1, by);
  return { solution, document: solutionDocument(solution) };
};

const hashCharacters = 8;

/** Returns an id that no other solution has: the words of a name, and a hash of what the solution comes from. */
export function newSolutionId(name: string, of: Json): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replaceAll(/^-+|-+$/g, '');
  return `${words || 'solution'}-${hash('sha256', sortedText(of), 'hex').slice(0, hashCharacters)}`;
}

const solutionDocument = (solution: Solution): Document => ({
  collection: collections.solutions,
  id: solution.id,
  rev: solution.version,
  content: asJson(solution) as JsonObject,
});

/** The time for which the store remembers a deleted solution, so that its version numbers continue if somebody writes it again. */
const deletedMs = 400 * dayMs;

const deletedDocument = (id: string, rev: number, now: number): Document => ({
  collection: collections.solutions,
  id,
  rev,
  content: { isDeleted: true },
  expiresAt: now + deletedMs,
});

const solutionIn = ({ content }: Document): Solution | undefined =>
  content['isDeleted'] === true ? undefined : (content as unknown as Solution);

const asJson = (value: unknown): Json => (value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json));

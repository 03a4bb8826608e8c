const first = `
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    orderId TEXT NOT NULL UNIQUE,
    client TEXT NOT NULL,
    reference TEXT,
    submittedAt INTEGER NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX orders_by_time ON orders (submittedAt);
  CREATE INDEX orders_by_client ON orders (client, submittedAt);
  CREATE INDEX orders_by_reference ON orders (client, reference) WHERE reference IS NOT NULL;

  CREATE TABLE states (
    id INTEGER PRIMARY KEY REFERENCES orders (id),
    rev INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    processState TEXT NOT NULL,
    worklist TEXT,
    shard INTEGER,
    worklistAt INTEGER,
    finishedAt INTEGER,
    head TEXT NOT NULL,
    blob TEXT NOT NULL
  );
  CREATE INDEX states_by_worklist ON states (worklist, shard, worklistAt) WHERE worklist IS NOT NULL;
  CREATE INDEX states_in_error ON states (id) WHERE processState = 'Error';
  CREATE INDEX states_by_finish ON states (finishedAt) WHERE finishedAt IS NOT NULL;

  CREATE TABLE pages (orderId TEXT NOT NULL, rev INTEGER NOT NULL, page TEXT NOT NULL, PRIMARY KEY (orderId, rev)) WITHOUT ROWID;
  CREATE TABLE clients (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;

  CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    visibleAt INTEGER NOT NULL,
    sentAt INTEGER NOT NULL,
    receiveCount INTEGER NOT NULL,
    body TEXT NOT NULL
  );
  CREATE INDEX messages_by_queue ON messages (queue, visibleAt);

  CREATE TABLE announcements (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    detailType TEXT NOT NULL,
    detail TEXT NOT NULL,
    publishedAt INTEGER NOT NULL
  );
`;

const intents = `
  CREATE TABLE intents (orderId TEXT NOT NULL, idempotencyKey TEXT NOT NULL, requestId TEXT NOT NULL, PRIMARY KEY (orderId, idempotencyKey)) WITHOUT ROWID;
`;

const undoPages = `
  CREATE TABLE undoPages (orderId TEXT NOT NULL, rev INTEGER NOT NULL, page TEXT NOT NULL, PRIMARY KEY (orderId, rev)) WITHOUT ROWID;
`;

const breakers = `
  CREATE TABLE breakers (agent TEXT PRIMARY KEY, rev INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
`;

const documents = `
  CREATE TABLE documents (
    collection TEXT NOT NULL, id TEXT NOT NULL, rev INTEGER NOT NULL, expiresAt INTEGER, record TEXT NOT NULL, PRIMARY KEY (collection, id)
  ) WITHOUT ROWID;
`;

/** The group of a message, and the index that finds the next group and its oldest message. */
const groups = `
  ALTER TABLE messages ADD COLUMN grp TEXT NOT NULL DEFAULT '';
  CREATE INDEX messages_by_group ON messages (queue, grp, visibleAt);
`;

/** An index of expiry times, to find expired documents without a scan. */
const expiry = `
  CREATE INDEX documents_by_expiry ON documents (expiresAt) WHERE expiresAt IS NOT NULL;
`;

/** Pages of journal entries that do not fit into the state of their own write, in order. They follow the page of the same rev. */
const overflow = `
  CREATE TABLE overflow (
    orderId TEXT NOT NULL, rev INTEGER NOT NULL, part INTEGER NOT NULL, page TEXT NOT NULL, PRIMARY KEY (orderId, rev, part)
  ) WITHOUT ROWID;
`;

/** The entries of documents in lists, with an index for each. */
const lists = `
  ALTER TABLE documents ADD COLUMN listA TEXT;
  ALTER TABLE documents ADD COLUMN sortA TEXT;
  ALTER TABLE documents ADD COLUMN listB TEXT;
  ALTER TABLE documents ADD COLUMN sortB TEXT;
  CREATE INDEX documents_by_list_a ON documents (listA, sortA) WHERE listA IS NOT NULL;
  CREATE INDEX documents_by_list_b ON documents (listB, sortB) WHERE listB IS NOT NULL;
`;

/** A third list for each document. */
const thirdList = `
  ALTER TABLE documents ADD COLUMN listC TEXT;
  ALTER TABLE documents ADD COLUMN sortC TEXT;
  CREATE INDEX documents_by_list_c ON documents (listC, sortC) WHERE listC IS NOT NULL;
`;

/** Each list of orders reads an index in its own order, so that no page sorts more orders than it shows. */
const orderLists = `
  DROP INDEX orders_by_reference;
  CREATE INDEX orders_by_reference ON orders (client, reference, submittedAt) WHERE reference IS NOT NULL;
  ALTER TABLE states ADD COLUMN errorListedAt INTEGER;
  UPDATE states SET errorListedAt = (SELECT submittedAt FROM orders WHERE orders.id = states.id) WHERE processState = 'Error';
  DROP INDEX states_in_error;
  CREATE INDEX states_in_error ON states (errorListedAt) WHERE errorListedAt IS NOT NULL;
`;

/** Sums over alike documents. */
const tallies = `
  CREATE TABLE tallies (
    collection TEXT NOT NULL, id TEXT NOT NULL, sums TEXT NOT NULL, about TEXT NOT NULL, firstAt INTEGER, lastAt INTEGER, expiresAt INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
  ) WITHOUT ROWID;
  CREATE INDEX tallies_by_expiry ON tallies (expiresAt);
`;

/** The orders that are not finished, to count them without the finished ones. */
const unfinished = `
  CREATE INDEX states_unfinished ON states (processState, id) WHERE finishedAt IS NULL;
`;

/** Migrations, one for each version. An older release of Redress refuses files of a newer version. */
export const changes: readonly string[] = [
  first,
  intents,
  undoPages,
  breakers,
  documents,
  groups,
  expiry,
  overflow,
  lists,
  orderLists,
  tallies,
  thirdList,
  unfinished,
];

export const schemaVersion = changes.length;

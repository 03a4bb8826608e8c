/** The registration of a client of the API: the channels that it may name, and those who may act for it. */
export interface ClientRecord {
  readonly id: string;
  /** Starts at 1 and rises by one with every write. A write must follow the value that it has read. */
  readonly rev: number;
  readonly responseChannels: readonly string[];
  /** SQS sender ids that may send submissions on its behalf; `AROAEXAMPLEID:*` is every session of a role. */
  readonly senders: readonly string[];
  /** Programs of the token issuer, by their `client_id`, that act as this client. A program acts for one client only. */
  readonly appClients: readonly string[];
  /** The admin who wrote this version. */
  readonly by: string;
  readonly at: number;
  readonly reason: string;
}

/** A registration as it is stored. A registration that an earlier version of Redress wrote has no rev and no author. */
export type StoredClient = Pick<ClientRecord, 'id' | 'responseChannels' | 'senders'> & Partial<ClientRecord>;

export const registrationIn = (stored: StoredClient): ClientRecord => ({ rev: 1, appClients: [], by: '', at: 0, reason: '', ...stored });

/** Whether this sender may send submissions on behalf of the client. */
export const isSenderOf = ({ senders }: ClientRecord, senderId: string): boolean =>
  senders.some((each) => (everySession.test(each) ? senderId.startsWith(each.slice(0, -1)) : each === senderId));

/** A pattern for all sessions of a role. The name of a session proves nothing: the program that assumes the role chooses it. */
export const everySession = /^AROA[A-Z0-9]+:\*$/;
